// A verdict on every series of two nights.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/compare/night.hpp"
#include "harness/compare/phases.hpp"
#include "harness/measure/statistics.hpp"

namespace fusebench {

/// By harm. Slower and newly wrong are regressions.
enum class Verdict {
  newly_wrong,  ///< not passed now as it was not before; even where times do not compare
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
  std::optional<double>
      size;  ///< larger over smaller median, less 1: as much for a doubling as for a halving
  std::optional<Interval> interval;  ///< of the ratio
  std::optional<double> p, adjusted_p;
  std::optional<double>
      spread;           ///< how far it strays by itself: the larger of both sides' self_spread
  bool failed = false;  ///< some replica of the new side did not pass
  bool out_of_reach = false;  ///< with so few replicas no one of so many series could be called
};

struct Comparison {
  std::vector<SeriesComparison> series;    ///< by harm, then the largest ratio first
  std::vector<SeriesComparison> controls;  ///< likewise; no regressions, but a drift of the machine

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  [[nodiscard]] bool regressed() const;
  /// Does any series have a verdict on its time, or a newly wrong one? Not if any is out of reach: there may be a
  /// regression among those.
  [[nodiscard]] bool decided() const;
};

/// The comparison of two nights. What a control of the same device and problem moved by may be the machine's, whether
/// or not that is enough to call it: a change is ambiguous unless what is left without the largest such move in its
/// direction, (1 + size) / (1 + move) - 1, still reaches the floor and the spread. Throws Error for rules that
/// make no sense.
[[nodiscard]] Comparison compare(const Night& before, const Night& after,
                                 const CompareRules& rules);

/// What fresh processes should look at again: called slower or faster, or with enough replicas too uncertain to call.
[[nodiscard]] std::vector<SeriesId> to_confirm(const Comparison& comparison);

/// The comparison of all replicas, the first ones and those in fresh processes, pooled() so that a machine that moved
/// in between hides nothing. What it calls slower or faster must show in the fresh ones by themselves too: by at
/// least the floor, with a p below 5%. Else it is ambiguous.
[[nodiscard]] Comparison compare_confirmed(const Builds& first, const Builds& fresh,
                                           const CompareRules& rules);

/// Sorts by harm.
void sort_by_harm(std::vector<SeriesComparison>& series);

}  // namespace fusebench
