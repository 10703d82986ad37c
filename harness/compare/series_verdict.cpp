#include "harness/compare/series_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/compare/size.hpp"
#include "harness/measure/binomial.hpp"

namespace fusebench {
namespace {

constexpr double same_within = 0.02;  // what an interval may reach for its series to be the same

// The p that Benjamini and Hochberg give a series that alone among so many shows a change, when all its new values
// are beyond all old ones: none is smaller.
double least_adjusted_p(std::size_t replicas, std::size_t others, std::size_t tested) {
  const auto n = static_cast<double>(replicas);
  return 2.0 * static_cast<double>(tested) *
         std::exp(-log_binomial(n + static_cast<double>(others), n));
}

std::string more_replicas_than(const SeriesComparison& series, std::size_t tested,
                               const CompareRules& rules) {
  std::size_t enough = rules.min_replicas;
  while (least_adjusted_p(enough, enough, tested) > rules.false_discoveries) ++enough;
  return fmt::format("{} before and {} after cannot single out one of {} series; take {} a side",
                     counted(series.old_replicas, "replica"), series.new_replicas, tested, enough);
}

}  // namespace

void Statistician::fill(std::span<const double> before, std::span<const double> after,
                        SeriesComparison& series) {
  series.ratio = *series.new_median_ns / *series.old_median_ns;
  series.size = size_of(*series.ratio);
  series.interval = ratio_.interval(after, before, rules_->confidence);
  series.p = test_(before, after).p;
  series.spread = std::max(ratio_.self_spread(before), ratio_.self_spread(after));
}

bool enough_replicas(const SeriesComparison& series, const CompareRules& rules) {
  return std::min(series.old_replicas, series.new_replicas) >= rules.min_replicas;
}

void judge_times(SeriesComparison& series, const CompareRules& rules, std::size_t tested) {
  const auto ambiguous = [&](std::string reason) {
    series.verdict = Verdict::ambiguous;
    series.reason = std::move(reason);
  };
  if (!enough_replicas(series, rules)) {
    return ambiguous(fmt::format("{} before and {} after, {} a side are needed",
                                 counted(series.old_replicas, "replica"), series.new_replicas,
                                 rules.min_replicas));
  }
  series.verdict = Verdict::same;
  if (!reaches(*series.size, rules.floor)) {
    // Close medians of sides that stray are luck.
    const double unseen = std::max(size_of(series.interval->low), size_of(series.interval->high));
    if (unseen <= std::max(2.0 * rules.floor, same_within)) return;
    return ambiguous("too noisy to see less than " + percent(unseen));
  }
  // By itself the series strays as far: nothing is known, unless it would be of no account.
  if (*series.size < *series.spread) {
    return ambiguous("two halves of one side differ by " + percent(*series.spread) + " as well");
  }
  if (!(*series.p < rules.p)) return ambiguous(fmt::format("p is not below {}", rules.p));
  if (!(*series.adjusted_p <= rules.false_discoveries)) {
    series.out_of_reach = least_adjusted_p(series.old_replicas, series.new_replicas, tested) >
                          rules.false_discoveries;
    if (series.out_of_reach) return ambiguous(more_replicas_than(series, tested, rules));
    return ambiguous(fmt::format("p adjusted for all series is above {}", rules.false_discoveries));
  }
  if (series.interval->low <= 1.0 && series.interval->high >= 1.0) {
    return ambiguous("the ratio's interval includes 1");
  }
  series.verdict = *series.ratio > 1.0 ? Verdict::slower : Verdict::faster;
}

}  // namespace fusebench
