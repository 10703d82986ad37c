// What an expression can be when its names are known only to lie within bounds: interval arithmetic, so that
// a constraint such as a * b * c <= 1024 turns a branch away before c is chosen.
#include <algorithm>
#include <cmath>

#include "harness/core/expression.hpp"

namespace fusebench {
namespace {

constexpr Bounds unknown{.any = true};
constexpr Bounds truth{.low = 0.0L, .high = 1.0L};
// Beyond it whole numbers overflow, which is for evaluate() to report: an error must not be pruned away.
constexpr long double largest = 9.2e18L;

Bounds of(bool value) { return {.low = value ? 1.0L : 0.0L, .high = value ? 1.0L : 0.0L}; }

Bounds within(long double low, long double high) {
  if (!(std::fabs(low) < largest) || !(std::fabs(high) < largest)) return unknown;
  return {.low = low, .high = high};
}

bool surely_true(const Bounds& b) { return !b.any && (b.low > 0.0L || b.high < 0.0L); }
bool surely_false(const Bounds& b) { return !b.any && b.low == 0.0L && b.high == 0.0L; }

Bounds compared(Expression::Comparison comparison, const Bounds& a, const Bounds& b) {
  using Comparison = Expression::Comparison;
  if (a.any || b.any) return truth;
  switch (comparison) {
    case Comparison::less:
      if (a.high < b.low) return of(true);
      return a.low >= b.high ? of(false) : truth;
    case Comparison::at_most:
      if (a.high <= b.low) return of(true);
      return a.low > b.high ? of(false) : truth;
    case Comparison::greater: return compared(Comparison::less, b, a);
    case Comparison::at_least: return compared(Comparison::at_most, b, a);
    case Comparison::equal:
      if (a.high < b.low || b.high < a.low) return of(false);
      return a.low == a.high && b.low == b.high ? of(true) : truth;
    case Comparison::unequal: {
      const Bounds same = compared(Comparison::equal, a, b);
      return {.low = 1.0L - same.high, .high = 1.0L - same.low};
    }
  }
  return truth;
}

// Of the four corners, which hold the extremes of a product, and of a quotient whose divisor keeps its sign.
template <typename Combine>
Bounds corners(const Bounds& a, const Bounds& b, Combine combine) {
  const auto [low, high] = std::minmax({combine(a.low, b.low), combine(a.low, b.high),
                                        combine(a.high, b.low), combine(a.high, b.high)});
  return within(low, high);
}

// Doubles round where this does not, so a bound from a quotient gets the room that rounding may take.
Bounds widened(const Bounds& b) {
  if (b.any) return b;
  return within(b.low - std::fabs(b.low) * 1e-9L, b.high + std::fabs(b.high) * 1e-9L);
}

}  // namespace

bool Expression::never_true(std::span<const Bounds> bounds) const {
  return surely_false(bounds_of(nodes_.size() - 1, bounds));
}

Bounds Expression::bounds_of(std::size_t index, std::span<const Bounds> bounds) const {
  const Node& node = nodes_[index];
  const auto child = [&](std::size_t i) { return bounds_of(node.children[i], bounds); };
  switch (node.kind) {
    case Kind::constant: {
      if (!is_number(node.constant)) return unknown;
      const long double value = as_number(node.constant);
      return within(value, value);
    }
    case Kind::name: return bounds[node.name];
    case Kind::logical_or:
    case Kind::logical_and: {
      // The value is one of the operands', so a text may hide in it: then nothing is told but what is sure.
      const bool is_or = node.kind == Kind::logical_or;
      bool open = false;
      for (std::size_t i = 0; i < node.children.size(); ++i) {
        const Bounds part = child(i);
        if (is_or && surely_true(part)) return unknown;
        if (!is_or && surely_false(part)) return open ? unknown : of(false);
        open = open || (is_or ? !surely_false(part) : part.any);
      }
      return !open && is_or ? of(false) : unknown;
    }
    case Kind::logical_not: {
      const Bounds inner = child(0);
      if (surely_false(inner)) return of(true);
      return surely_true(inner) ? of(false) : truth;
    }
    case Kind::comparison: {
      Bounds all = of(true);
      for (std::size_t i = 0; i < node.comparisons.size(); ++i) {
        const Bounds one = compared(node.comparisons[i], child(i), child(i + 1));
        if (surely_false(one)) return of(false);
        if (!surely_true(one)) all = truth;
      }
      return all;
    }
    case Kind::membership: return truth;
    default: break;
  }
  const Bounds a = child(0);
  const Bounds b = node.children.size() > 1 ? child(1) : a;
  if (a.any || b.any) return unknown;
  switch (node.kind) {
    case Kind::add: return widened(within(a.low + b.low, a.high + b.high));
    case Kind::subtract: return widened(within(a.low - b.high, a.high - b.low));
    case Kind::multiply:
      return widened(corners(a, b, [](long double x, long double y) { return x * y; }));
    case Kind::negate: return within(-a.high, -a.low);
    case Kind::plus: return a;
    case Kind::divide:
    case Kind::floor_divide: {
      if (b.low <= 0.0L && b.high >= 0.0L) return unknown;
      const Bounds quotient = corners(a, b, [](long double x, long double y) { return x / y; });
      if (quotient.any || node.kind == Kind::divide) return widened(quotient);
      return within(std::floor(quotient.low) - 1.0L, std::floor(quotient.high) + 1.0L);
    }
    case Kind::modulo:
      if (b.low > 0.0L) return within(0.0L, b.high);
      if (b.high < 0.0L) return within(b.low, 0.0L);
      return unknown;
    default: return unknown;
  }
}

}  // namespace fusebench
