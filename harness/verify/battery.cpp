#include "harness/verify/battery.hpp"

#include <algorithm>
#include <cmath>

#include "harness/verify/workbench.hpp"

namespace fusebench {

std::string Case::name() const {
  std::string text = problem.to_string();
  if (inputs.name != "official") text += ", inputs: " + inputs.name;
  if (placement.name != Placement{}.name) text += ", " + placement.name;
  if (repeats > 0) text += ", repeated";
  return text;
}

std::vector<Case> battery_cases(const Operator& op, const VariantInfo& variant, Battery battery) {
  if (battery == Battery::timed) return {};
  std::vector<Case> cases;
  const std::vector<Placement> places = placements(variant.in_place);
  const Placement& usual = places.front();
  for (const Battery level : {Battery::quick, Battery::full, Battery::exhaustive}) {
    if (level > battery) break;
    for (const Problem& problem : op.awkward_problems(level)) {
      cases.push_back({problem, official_inputs(op, problem), usual});
    }
  }
  const std::vector<InputSet> sets = op.input_sets();
  const std::vector<Problem> small = op.small_problems();
  for (std::size_t i = 0; i < small.size(); ++i) {
    const bool for_all = battery != Battery::quick;
    if (i == 0 || for_all) {
      for (const InputSet& set : sets) cases.push_back({small[i], set, usual});
    }
    // A problem of odd extents and one of even ones: accesses of several elements meet both.
    if (i <= 1 || for_all) {
      for (std::size_t p = 1; p < places.size(); ++p) {
        cases.push_back({small[i], official_inputs(op, small[i]), places[p]});
      }
    }
    if (battery == Battery::exhaustive) {
      for (const InputSet& set : sets) {
        for (std::size_t p = 1; p < places.size(); ++p) cases.push_back({small[i], set, places[p]});
      }
    }
  }
  if (!small.empty()) {
    const Problem& problem = small[std::min<std::size_t>(1, small.size() - 1)];
    const int repeats = battery == Battery::quick ? 20 : battery == Battery::full ? 100 : 1000;
    cases.push_back({problem, official_inputs(op, problem), usual, repeats});
  }
  return cases;
}

bool within_range(const Operator& op, const Case& one, Precision precision, std::uint64_t seed) {
  const double most = op.format_of(precision).most;
  const std::vector<TensorSpec> specs = op.tensors(one.problem);
  for (std::size_t t = 0; t < one.inputs.recipes.size(); ++t) {
    const InputRecipe& recipe = one.inputs.recipes[t];
    const auto count = static_cast<unsigned long long>(element_count(specs[t].shape));
    // Of a recipe's values these many tell its range.
    for (unsigned long long i = 0; i < std::min(count, 4096ULL); ++i) {
      const double value = input_value(recipe, stream_of(seed, recipe), i, count);
      if (std::isfinite(value) && std::abs(value) > most) return false;
    }
  }
  return true;
}

}  // namespace fusebench
