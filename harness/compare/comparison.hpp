// A verdict on every series of two nights.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/compare/night.hpp"
#include "harness/measure/statistics.hpp"

namespace fusebench {

/// By harm. Slower and newly wrong are regressions.
enum class Verdict {
  newly_wrong,  ///< not passed now, and it was not so before; even where times do not compare
  slower,
  gone,
  ambiguous,       ///< too few replicas, or a change too uncertain to call
  not_comparable,  ///< other conditions, or no right and timed result on a side
  added,           ///< "new"
  same,
  faster
};
[[nodiscard]] std::string_view to_string(Verdict verdict);

/// A change is called when all hold: p, the p adjusted over all series, an interval of the ratio that excludes 1,
/// and a size of at least the floor and of the series' own spread without any change.
struct CompareRules {
  double floor = 0.005;             ///< least change of the median, over the old one
  double p = 0.002;                 ///< Mann-Whitney, two-sided: below this
  double false_discoveries = 0.05;  ///< Benjamini-Hochberg: at most this share of the calls
  double confidence = 0.95;         ///< of the ratio's interval
  std::size_t min_replicas = 8;     ///< a side
};

struct SeriesComparison {
  SeriesId id;
  Verdict verdict = Verdict::same;
  std::string reason;  ///< why it is not plainly the same, faster or slower
  std::size_t old_replicas = 0, new_replicas = 0;      ///< with a time
  std::optional<double> old_median_ns, new_median_ns;  ///< over the replicas' medians
  std::optional<double> ratio;                         ///< new over old: above 1 is slower
  std::optional<Interval> interval;                    ///< of the ratio
  std::optional<double> p, adjusted_p;
  std::optional<double>
      spread;  ///< how far it strays by itself: the larger of both sides' self_spread
};

struct Comparison {
  std::vector<SeriesComparison> series;    ///< by harm, then the largest ratio first
  std::vector<SeriesComparison> controls;  ///< likewise; no regressions, but a drift of the machine

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  [[nodiscard]] bool regressed() const;
  /// Does any series have a verdict on its time, or a newly wrong one?
  [[nodiscard]] bool decided() const;
};

/// The comparison of two nights. A change that is no larger than what a control of the same device and
/// problem moved by, called by the same rules, is ambiguous: it may be the machine's. Throws Error for rules that
/// make no sense.
[[nodiscard]] Comparison compare(const Night& before, const Night& after,
                                 const CompareRules& rules);

/// What fresh processes should look at again: called slower or faster, or with enough replicas too uncertain to call.
[[nodiscard]] std::vector<SeriesId> to_confirm(const Comparison& comparison);

/// The comparison of all replicas, those in fresh processes among them. What it calls slower or faster must
/// show in the fresh ones by themselves too: by at least the floor, with a p below 5%. Else it is ambiguous.
/// Before and after hold the fresh records as well.
[[nodiscard]] Comparison compare_confirmed(const Night& before, const Night& after,
                                           const Night& fresh_before, const Night& fresh_after,
                                           const CompareRules& rules);

/// Sorts by harm.
void sort_by_harm(std::vector<SeriesComparison>& series);

}  // namespace fusebench
