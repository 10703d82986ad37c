#include "harness/verify/battery.hpp"

#include <algorithm>

#include "harness/verify/workbench.hpp"

namespace fusebench {
namespace {

bool holds(const InputSet& inputs, Precision precision) {
  return std::find(inputs.outside.begin(), inputs.outside.end(), precision) == inputs.outside.end();
}

std::vector<InputSet> inputs_within(const Operator& op, Precision precision) {
  std::vector<InputSet> sets = op.input_sets();
  std::erase_if(sets, [&](const InputSet& set) { return !holds(set, precision); });
  return sets;
}

}  // namespace

std::string Case::name() const {
  std::string text = problem.to_string();
  if (inputs.name != "official") text += ", inputs: " + inputs.name;
  if (placement.name != Placement{}.name) text += ", " + placement.name;
  if (repeats > 0) text += ", repeated";
  return text;
}

std::vector<Case> battery_cases(const Operator& op, const VariantInfo& variant, Battery battery) {
  std::vector<Case> cases;
  for (const Battery level : {Battery::quick, Battery::full, Battery::exhaustive}) {
    if (level > battery) break;
    for (const Problem& problem : op.awkward_problems(level)) {
      cases.push_back({problem, official_inputs(op, problem), {}});
    }
  }
  const std::vector<InputSet> sets = inputs_within(op, variant.precision);
  const std::vector<Placement> places = placements(variant.in_place);
  const std::vector<Problem> small = op.small_problems();
  for (std::size_t i = 0; i < small.size(); ++i) {
    const bool for_all = battery != Battery::quick;
    if (i == 0 || for_all) {
      for (const InputSet& set : sets) cases.push_back({small[i], set, {}});
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
    cases.push_back(
        {problem, official_inputs(op, problem), {}, battery == Battery::quick ? 20 : 100});
  }
  return cases;
}

}  // namespace fusebench
