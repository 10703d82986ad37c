#include "harness/tune/enumeration.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

constexpr std::size_t most_rows = 20'000'000;
// A constraint's verdicts are kept in a table where that is so small: then each is computed once.
constexpr std::size_t largest_table = std::size_t{1} << 22;

std::string names_of(const std::vector<SpaceParameter>& parameters, const Properties& properties) {
  std::vector<std::string> names;
  for (const SpaceParameter& parameter : parameters) names.push_back(parameter.name);
  for (const auto& [name, value] : properties) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Bounds bounds_of(const std::vector<Value>& values) {
  Bounds bounds{.any = !std::all_of(values.begin(), values.end(), is_number)};
  if (bounds.any) return bounds;
  bounds.low = std::numeric_limits<long double>::max();
  bounds.high = std::numeric_limits<long double>::lowest();
  for (const Value& value : values) {
    bounds.low = std::min(bounds.low, as_number(value));
    bounds.high = std::max(bounds.high, as_number(value));
  }
  return bounds;
}

Bounds bounds_of(const Value& value) {
  if (!is_number(value)) return {.any = true};
  return {.low = as_number(value), .high = as_number(value)};
}

// One part of a constraint, with the values its names have and the parameters that they are.
class Constraint {
 public:
  Constraint(Expression expression, const std::vector<SpaceParameter>& parameters,
             const Properties& properties)
      : expression_(std::move(expression)), parameters_(&parameters) {
    std::size_t combinations = 1;
    for (const std::string& name : expression_.names()) {
      const auto found =
          std::find_if(parameters.begin(), parameters.end(),
                       [&](const SpaceParameter& parameter) { return parameter.name == name; });
      const auto property = properties.find(name);
      Slot slot;
      if (found != parameters.end()) {
        slot.parameter = static_cast<std::size_t>(found - parameters.begin());
        slot.stride = combinations;
        if (combinations <= largest_table) combinations *= found->values.size();
        values_.emplace_back(std::int64_t{0});
        bounds_.push_back(bounds_of(found->values));
        uses_.push_back(*slot.parameter);
      } else if (property != properties.end()) {
        values_.push_back(property->second);
        bounds_.push_back(bounds_of(property->second));
      } else {
        throw Error(
            "constraint '{}' names '{}', which is neither a parameter nor a property; there is: {}",
            expression_.text(), name, names_of(parameters, properties));
      }
      slots_.push_back(slot);
    }
    if (combinations <= largest_table) verdicts_.resize(combinations, Verdict::unknown);
  }

  [[nodiscard]] const std::string& text() const { return expression_.text(); }
  [[nodiscard]] const std::vector<std::size_t>& uses() const { return uses_; }

  /// Every parameter that it uses is bound.
  [[nodiscard]] bool holds(const std::vector<std::uint16_t>& row) {
    if (verdicts_.empty()) return computed(row);
    std::size_t at = 0;
    for (const Slot& slot : slots_) {
      if (slot.parameter) at += slot.stride * row[*slot.parameter];
    }
    if (verdicts_[at] == Verdict::unknown) {
      verdicts_[at] = computed(row) ? Verdict::holds : Verdict::broken;
    }
    return verdicts_[at] == Verdict::holds;
  }

  /// Some are not: whether none of their values could make it hold.
  [[nodiscard]] bool hopeless(const std::vector<std::uint16_t>& row,
                              const std::vector<bool>& bound) {
    scratch_ = bounds_;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const auto parameter = slots_[i].parameter;
      if (!parameter || !bound[*parameter]) continue;
      scratch_[i] = bounds_of((*parameters_)[*parameter].values[row[*parameter]]);
    }
    return expression_.never_true(scratch_);
  }

 private:
  struct Slot {
    std::optional<std::size_t> parameter;
    std::size_t stride = 0;
  };
  enum class Verdict : std::uint8_t { unknown, holds, broken };

  [[nodiscard]] bool computed(const std::vector<std::uint16_t>& row) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const auto parameter = slots_[i].parameter;
      if (parameter) values_[i] = (*parameters_)[*parameter].values[row[*parameter]];
    }
    return is_true(expression_.evaluate(values_));
  }

  Expression expression_;
  const std::vector<SpaceParameter>* parameters_;
  std::vector<Slot> slots_;  // of the expression's names
  std::vector<std::size_t> uses_;
  std::vector<Value> values_;
  std::vector<Bounds> bounds_;
  std::vector<Bounds> scratch_;
  std::vector<Verdict> verdicts_;
};

// First the parameters of the constraint that is completed by the fewest combinations, and so on; those
// without a constraint last.
std::vector<std::size_t> binding_order(const std::vector<SpaceParameter>& parameters,
                                       const std::vector<Constraint>& constraints) {
  std::vector<std::size_t> order;
  std::vector<bool> bound(parameters.size(), false);
  std::vector<bool> done(constraints.size(), false);
  const auto bind = [&](std::size_t parameter) {
    if (!bound[parameter]) order.push_back(parameter);
    bound[parameter] = true;
  };
  for (;;) {
    std::optional<std::size_t> next;
    double fewest = 0.0;
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      if (done[i]) continue;
      double combinations = 1.0;
      for (const std::size_t parameter : constraints[i].uses()) {
        if (bound[parameter]) continue;
        combinations *= static_cast<double>(parameters[parameter].values.size());
      }
      if (!next || combinations < fewest) {
        next = i;
        fewest = combinations;
      }
    }
    if (!next) break;
    done[*next] = true;
    for (const std::size_t parameter : constraints[*next].uses()) bind(parameter);
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) bind(i);
  return order;
}

class Backtracking {
 public:
  Backtracking(const std::vector<SpaceParameter>& parameters, std::vector<Constraint>& constraints)
      : parameters_(&parameters),
        order_(binding_order(parameters, constraints)),
        row_(parameters.size(), 0),
        bound_(parameters.size(), false),
        complete_(parameters.size()),
        open_(parameters.size()) {
    std::vector<std::size_t> depth_of(parameters.size());
    for (std::size_t depth = 0; depth < order_.size(); ++depth) depth_of[order_[depth]] = depth;
    for (Constraint& constraint : constraints) {
      std::size_t last = 0;
      for (const std::size_t parameter : constraint.uses())
        last = std::max(last, depth_of[parameter]);
      complete_[last].push_back(&constraint);
      for (const std::size_t parameter : constraint.uses()) {
        if (depth_of[parameter] != last) open_[depth_of[parameter]].push_back(&constraint);
      }
    }
  }

  std::vector<std::uint16_t> rows() {
    descend(0);
    return std::move(rows_);
  }

 private:
  void descend(std::size_t depth) {
    if (depth == order_.size()) {
      if (rows_.size() / row_.size() >= most_rows) {
        throw Error(
            "the space has more than {} valid configurations; add constraints or take values away",
            most_rows);
      }
      rows_.insert(rows_.end(), row_.begin(), row_.end());
      return;
    }
    const std::size_t parameter = order_[depth];
    bound_[parameter] = true;
    const std::size_t count = (*parameters_)[parameter].values.size();
    for (std::size_t place = 0; place < count; ++place) {
      row_[parameter] = static_cast<std::uint16_t>(place);
      if (survives(depth)) descend(depth + 1);
    }
    bound_[parameter] = false;
  }

  bool survives(std::size_t depth) {
    const auto& complete = complete_[depth];
    const auto& open = open_[depth];
    return std::all_of(complete.begin(), complete.end(),
                       [&](Constraint* c) { return c->holds(row_); }) &&
           std::none_of(open.begin(), open.end(),
                        [&](Constraint* c) { return c->hopeless(row_, bound_); });
  }

  const std::vector<SpaceParameter>* parameters_;
  std::vector<std::size_t> order_;
  std::vector<std::uint16_t> row_;
  std::vector<bool> bound_;
  std::vector<std::vector<Constraint*>> complete_;  // by the depth that binds their last parameter
  std::vector<std::vector<Constraint*>> open_;      // by each depth before that binds one
  std::vector<std::uint16_t> rows_;
};

std::vector<Constraint> parts_of(const std::vector<std::string>& texts,
                                 const std::vector<SpaceParameter>& parameters,
                                 const Properties& properties) {
  std::vector<Constraint> parts;
  for (const std::string& text : texts) {
    for (Expression& part : Expression(text).conjuncts()) {
      parts.emplace_back(std::move(part), parameters, properties);
    }
  }
  return parts;
}

// The constraint that alone leaves nothing, where there is one.
std::string reason_for_nothing(const std::vector<SpaceParameter>& parameters,
                               const std::vector<std::string>& constraints,
                               const Properties& properties) {
  for (const std::string& text : constraints) {
    std::vector<Constraint> alone = parts_of({text}, parameters, properties);
    std::vector<SpaceParameter> narrowed = parameters;
    for (std::size_t i = 0; i < narrowed.size(); ++i) {
      const bool used = std::any_of(alone.begin(), alone.end(), [&](const Constraint& part) {
        return std::find(part.uses().begin(), part.uses().end(), i) != part.uses().end();
      });
      if (!used) narrowed[i].values.resize(1);
    }
    alone = parts_of({text}, narrowed, properties);
    if (Backtracking(narrowed, alone).rows().empty()) {
      return fmt::format("constraint '{}' turns every configuration away", text);
    }
  }
  return fmt::format("the {} constraints together turn every configuration away",
                     constraints.size());
}

}  // namespace

std::vector<std::uint16_t> enumerate(const std::vector<SpaceParameter>& parameters,
                                     const std::vector<std::string>& constraints,
                                     const Properties& properties) {
  std::vector<Constraint> parts = parts_of(constraints, parameters, properties);
  std::vector<std::uint16_t> rows = Backtracking(parameters, parts).rows();
  if (rows.empty()) {
    throw Error("the space is empty: {}", reason_for_nothing(parameters, constraints, properties));
  }
  return rows;
}

}  // namespace fusebench
