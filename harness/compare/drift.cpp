#include "harness/compare/drift.hpp"

#include "harness/compare/size.hpp"

namespace fusebench {

Drifts drifts_of(const std::vector<SeriesComparison>& controls) {
  Drifts drifts;
  for (const SeriesComparison& control : controls) {
    if (!control.ratio) continue;
    Drift& drift = drifts[{control.id.device, control.id.problem}];
    Move& largest = *control.ratio > 1.0 ? drift.slower : drift.faster;
    if (*control.size > largest.size) largest = {*control.size, control.id.variant};
  }
  return drifts;
}

void withhold_what_may_be_the_machines(SeriesComparison& series, const Drifts& drifts,
                                       const CompareRules& rules) {
  const bool changed = series.verdict == Verdict::slower || series.verdict == Verdict::faster;
  const auto drift = drifts.find({series.id.device, series.id.problem});
  if (drift == drifts.end() || !(changed || series.out_of_reach)) return;
  const bool slower = *series.ratio > 1.0;
  const auto& [moved, control] = slower ? drift->second.slower : drift->second.faster;
  if (moved == 0.0) return;
  const double left = (1.0 + *series.size) / (1.0 + moved) - 1.0;
  if (reaches(left, rules.floor) && left >= *series.spread) return;
  series.verdict = Verdict::ambiguous;
  series.out_of_reach = false;
  series.reason =
      fmt::format("the control {} became {} {} too, which leaves {}", control, percent(moved),
                  slower ? "slower" : "faster", left > 0.0 ? percent(left) : "nothing");
}

}  // namespace fusebench
