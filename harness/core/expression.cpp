#include "harness/core/expression.hpp"

#include <cmath>

#include "harness/core/error.hpp"
#include "harness/core/expression_parser.hpp"

namespace fusebench {
namespace {

bool is_whole(const Value& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<bool>(value);
}

std::int64_t as_whole(const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
  return std::get<std::int64_t>(value);
}

double as_double(const Value& value) { return static_cast<double>(as_number(value)); }

// Python rounds towards minus infinity, and the remainder has the divisor's sign.
std::int64_t floor_quotient(std::int64_t left, std::int64_t right) {
  const std::int64_t quotient = left / right;
  return left % right != 0 && (left % right < 0) != (right < 0) ? quotient - 1 : quotient;
}

double remainder_of(double left, double right) {
  double remainder = std::fmod(left, right);
  if (remainder == 0.0) return std::copysign(0.0, right);
  if ((remainder < 0.0) != (right < 0.0)) remainder += right;
  return remainder;
}

// As CPython computes it: from the remainder, so that a // b and a % b belong together.
double floor_quotient(double left, double right) {
  double remainder = std::fmod(left, right);
  double quotient = (left - remainder) / right;
  if (remainder != 0.0 && (remainder < 0.0) != (right < 0.0)) quotient -= 1.0;
  if (quotient == 0.0) return std::copysign(0.0, left / right);
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1.0 : floor;
}

}  // namespace

Expression::Expression(std::string_view text) { *this = ExpressionParser(text).parse(); }

std::vector<Value> parse_value_list(std::string_view what, std::string_view text) {
  return ExpressionParser(text, what).parse_list();
}

std::vector<Expression> Expression::conjuncts() const {
  const Node& root = nodes_.back();
  if (root.kind != Kind::logical_and) return {*this};
  std::vector<Expression> parts;
  for (const std::size_t child : root.children) {
    const Node& node = nodes_[child];
    const Expression part(std::string_view(text_).substr(node.begin, node.end - node.begin));
    for (Expression& inner : part.conjuncts()) parts.push_back(std::move(inner));
  }
  return parts;
}

Value Expression::evaluate(std::span<const Value> values) const {
  return value_of(nodes_.size() - 1, values);
}

Value Expression::value_of(std::size_t index, std::span<const Value> values) const {
  const Node& node = nodes_[index];
  switch (node.kind) {
    case Kind::constant: return node.constant;
    case Kind::name: return values[node.name];
    case Kind::logical_or:
    case Kind::logical_and: {
      // The value is the operand that decided, as in Python.
      Value value;
      for (const std::size_t child : node.children) {
        value = value_of(child, values);
        if (is_true(value) == (node.kind == Kind::logical_or)) break;
      }
      return value;
    }
    case Kind::logical_not: return !is_true(value_of(node.children[0], values));
    case Kind::comparison: {
      Value left = value_of(node.children[0], values);
      for (std::size_t i = 0; i < node.comparisons.size(); ++i) {
        Value right = value_of(node.children[i + 1], values);
        if (!compare(node, node.comparisons[i], left, right)) return false;
        left = std::move(right);
      }
      return true;
    }
    case Kind::membership: {
      const Value sought = value_of(node.children[0], values);
      // Python makes the whole list before it looks, so an error in it is one whatever was found.
      bool found = false;
      for (std::size_t i = 1; i < node.children.size(); ++i) {
        found = equal(sought, value_of(node.children[i], values)) || found;
      }
      return found != node.negated;
    }
    case Kind::negate:
    case Kind::plus: {
      const Value zero = std::int64_t{0};
      const Value operand = value_of(node.children[0], values);
      if (const auto* number = std::get_if<double>(&operand)) {
        return node.kind == Kind::plus ? *number : -*number;
      }
      return arithmetic(node, zero, operand);
    }
    default:
      return arithmetic(node, value_of(node.children[0], values),
                        value_of(node.children[1], values));
  }
}

Value Expression::arithmetic(const Node& node, const Value& left, const Value& right) const {
  if (!is_number(left) || !is_number(right)) fail(node, "a text cannot be calculated with");
  const bool divides =
      node.kind == Kind::divide || node.kind == Kind::floor_divide || node.kind == Kind::modulo;
  if (divides && as_number(right) == 0.0L) fail(node, "division by 0");
  if (node.kind == Kind::divide) return as_double(left) / as_double(right);
  if (is_whole(left) && is_whole(right)) {
    const std::int64_t a = as_whole(left);
    const std::int64_t b = as_whole(right);
    std::int64_t result = 0;
    bool overflow = false;
    if (node.kind == Kind::add || node.kind == Kind::plus) {
      overflow = __builtin_add_overflow(a, b, &result);
    } else if (node.kind == Kind::subtract || node.kind == Kind::negate) {
      overflow = __builtin_sub_overflow(a, b, &result);
    } else if (node.kind == Kind::multiply) {
      overflow = __builtin_mul_overflow(a, b, &result);
    } else if (b == -1) {  // the one divisor that can overflow, and trap
      overflow =
          node.kind == Kind::floor_divide && __builtin_sub_overflow(std::int64_t{0}, a, &result);
    } else {
      result = floor_quotient(a, b);
      if (node.kind == Kind::modulo) result = a - result * b;
    }
    if (overflow) fail(node, "the result does not fit 64 bits");
    return result;
  }
  const double a = as_double(left);
  const double b = as_double(right);
  switch (node.kind) {
    case Kind::add: return a + b;
    case Kind::subtract: return a - b;
    case Kind::multiply: return a * b;
    case Kind::floor_divide: return floor_quotient(a, b);
    default: return remainder_of(a, b);
  }
}

bool Expression::compare(const Node& node, Comparison comparison, const Value& left,
                         const Value& right) const {
  if (comparison == Comparison::equal) return equal(left, right);
  if (comparison == Comparison::unequal) return !equal(left, right);
  if (is_number(left) != is_number(right)) {
    fail(node, fmt::format("{} and {} have no order", kind_of(left), kind_of(right)));
  }
  const auto ordered = [comparison](const auto& a, const auto& b) {
    switch (comparison) {
      case Comparison::less: return a < b;
      case Comparison::at_most: return a <= b;
      case Comparison::greater: return a > b;
      default: return a >= b;
    }
  };
  if (is_number(left)) return ordered(as_number(left), as_number(right));
  return ordered(std::get<std::string>(left), std::get<std::string>(right));
}

void Expression::fail(const Node& node, const std::string& what) const {
  throw Error("constraint '{}', column {}: {}", text_, node.column + 1, what);
}

}  // namespace fusebench
