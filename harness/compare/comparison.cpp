#include "harness/compare/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <thread>
#include <tuple>

#include "harness/core/error.hpp"
#include "harness/measure/median_ratio.hpp"
#include "harness/measure/rank_test.hpp"

namespace fusebench {
namespace {

const Replicas absent;
constexpr double confirming_p = 0.05;  // of what is suspected already

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// What can be said without looking at times; nullopt when they decide.
std::optional<Verdict> verdict_without_times(const Replicas& before, const Replicas& after,
                                             SeriesComparison& series) {
  const auto call = [&](Verdict verdict, std::string reason) {
    series.reason = std::move(reason);
    return verdict;
  };
  if (after.not_passed > 0) {
    if (before.not_passed == 0) return call(Verdict::newly_wrong, after.failure);
    return call(Verdict::not_comparable, "in both not passed, now " + after.failure);
  }
  if (!after.present()) {
    return call(Verdict::gone, after.unavailable.empty() ? "not there any more"
                                                         : "unavailable: " + after.unavailable);
  }
  if (!before.present()) {
    return call(Verdict::added,
                before.unavailable.empty() ? "" : "it was unavailable: " + before.unavailable);
  }
  if (before.not_passed > 0) return call(Verdict::added, "it was " + before.failure);
  for (const auto& [side, name] : {std::pair{&before, "before"}, {&after, "after"}}) {
    if (!side->mixed.empty()) {
      return call(Verdict::not_comparable, fmt::format("{} has {}", name, side->mixed));
    }
  }
  if (const std::string what = difference(before.conditions, after.conditions); !what.empty()) {
    return call(Verdict::not_comparable, what);
  }
  for (const auto& [side, name] : {std::pair{&before, "before"}, {&after, "after"}}) {
    if (side->medians_ns.empty()) {
      return call(Verdict::not_comparable, fmt::format("{} has no time", name));
    }
  }
  return std::nullopt;
}

// A series that its times decide.
struct Timed {
  std::size_t index;  // in the list of all
  const Replicas* before;
  const Replicas* after;
};

// The numbers of two sides with times; keeps the tables that the statistics share.
class Statistician {
 public:
  explicit Statistician(const CompareRules& rules) : rules_(&rules) {}

  void fill(const Replicas& before, const Replicas& after, SeriesComparison& series) {
    const std::vector<double> a = sorted(before.medians_ns);
    const std::vector<double> b = sorted(after.medians_ns);
    series.ratio = *series.new_median_ns / *series.old_median_ns;
    series.interval = ratio_.interval(b, a, rules_->confidence);
    series.p = test_(a, b).p;
    series.spread = std::max(ratio_.self_spread(a), ratio_.self_spread(b));
  }

 private:
  const CompareRules* rules_;
  RankTest test_;
  MedianRatio ratio_;
};

bool enough_replicas(const SeriesComparison& series, const CompareRules& rules) {
  return std::min(series.old_replicas, series.new_replicas) >= rules.min_replicas;
}

std::string percent(double share) { return fmt::format("{:.2f}%", 100.0 * share); }

// How much larger the larger median is: as much for a doubling as for a halving.
double size_of(double ratio) { return std::max(ratio, 1.0 / ratio) - 1.0; }

void judge_times(SeriesComparison& series, const CompareRules& rules) {
  const auto ambiguous = [&](std::string reason) {
    series.verdict = Verdict::ambiguous;
    series.reason = std::move(reason);
  };
  if (!enough_replicas(series, rules)) {
    return ambiguous(fmt::format("{} before and {} after, {} a side are needed",
                                 counted(series.old_replicas, "replica"), series.new_replicas,
                                 rules.min_replicas));
  }
  const double size = size_of(*series.ratio);
  series.verdict = Verdict::same;
  if (size < rules.floor) return;
  // By itself the series strays as far: nothing is known, unless it would be of no account.
  if (size < *series.spread) {
    return ambiguous("two halves of one side differ by " + percent(*series.spread) + " as well");
  }
  if (!(*series.p < rules.p)) return ambiguous(fmt::format("p is not below {}", rules.p));
  if (!(*series.adjusted_p <= rules.false_discoveries)) {
    return ambiguous(fmt::format("p adjusted for all series is above {}", rules.false_discoveries));
  }
  if (series.interval->low <= 1.0 && series.interval->high >= 1.0) {
    return ambiguous("the ratio's interval includes 1");
  }
  series.verdict = *series.ratio > 1.0 ? Verdict::slower : Verdict::faster;
}

// Thousands of series take a second: on all cores.
void fill_all(std::vector<SeriesComparison>& all, std::span<const Timed> timed,
              const CompareRules& rules) {
  const auto fill = [&](std::span<const Timed> part) {
    Statistician statistician(rules);
    for (const Timed& t : part) statistician.fill(*t.before, *t.after, all[t.index]);
  };
  constexpr std::size_t fewest = 256;
  const std::size_t cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  const std::size_t step = std::max(fewest, (timed.size() + cores - 1) / cores);
  std::vector<std::future<void>> parts;
  for (std::size_t i = 0; i < timed.size(); i += step) {
    parts.push_back(
        std::async(std::launch::async, fill, timed.subspan(i, std::min(step, timed.size() - i))));
  }
  for (std::future<void>& part : parts) part.get();
}

void adjust(std::vector<SeriesComparison>& all, std::span<const Timed> timed,
            const CompareRules& rules) {
  std::vector<std::size_t> tested;
  std::vector<double> p;
  for (const Timed& t : timed) {
    if (!enough_replicas(all[t.index], rules)) continue;
    tested.push_back(t.index);
    p.push_back(*all[t.index].p);
  }
  const std::vector<double> adjusted = benjamini_hochberg(p);
  for (std::size_t k = 0; k < tested.size(); ++k) all[tested[k]].adjusted_p = adjusted[k];
}

using Wanted = std::function<bool(const SeriesId&)>;

std::vector<SeriesComparison> compare_those(const Night& before, const Night& after,
                                            const CompareRules& rules, const Wanted& wanted) {
  std::vector<SeriesComparison> all;
  std::vector<Timed> timed;
  const auto add = [&](const SeriesId& id, const Replicas& old_side, const Replicas& new_side) {
    if (!wanted(id) || (!old_side.present() && !new_side.present())) return;
    SeriesComparison series;
    series.id = id;
    series.old_replicas = old_side.medians_ns.size();
    series.new_replicas = new_side.medians_ns.size();
    if (series.old_replicas > 0) series.old_median_ns = median(sorted(old_side.medians_ns));
    if (series.new_replicas > 0) series.new_median_ns = median(sorted(new_side.medians_ns));
    if (const auto verdict = verdict_without_times(old_side, new_side, series)) {
      series.verdict = *verdict;
    } else {
      timed.push_back({all.size(), &old_side, &new_side});
    }
    all.push_back(std::move(series));
  };
  for (const auto& [id, replicas] : before.series()) {
    const auto other = after.series().find(id);
    add(id, replicas, other == after.series().end() ? absent : other->second);
  }
  for (const auto& [id, replicas] : after.series()) {
    if (!before.series().contains(id)) add(id, absent, replicas);
  }
  fill_all(all, timed, rules);
  adjust(all, timed, rules);
  for (const Timed& t : timed) judge_times(all[t.index], rules);
  return all;
}

// By how much the machine's controls are called to have moved, in each direction.
struct Drift {
  double slower = 0.0, faster = 0.0;
  std::string slowest, fastest;  // which control
};

using Place = std::pair<DeviceKind, std::string>;

std::map<Place, Drift> drifts_of(const std::vector<SeriesComparison>& controls) {
  std::map<Place, Drift> drifts;
  for (const SeriesComparison& control : controls) {
    Drift& drift = drifts[{control.id.device, control.id.problem}];
    if (control.verdict == Verdict::slower && size_of(*control.ratio) > drift.slower) {
      drift.slower = size_of(*control.ratio);
      drift.slowest = control.id.variant;
    }
    if (control.verdict == Verdict::faster && size_of(*control.ratio) > drift.faster) {
      drift.faster = size_of(*control.ratio);
      drift.fastest = control.id.variant;
    }
  }
  return drifts;
}

void withhold_what_may_be_the_machines(SeriesComparison& series, const Drift& drift) {
  const bool slower = series.verdict == Verdict::slower;
  if (!slower && series.verdict != Verdict::faster) return;
  const double moved = slower ? drift.slower : drift.faster;
  if (size_of(*series.ratio) > moved) return;
  series.verdict = Verdict::ambiguous;
  series.reason =
      fmt::format("the control {} became {} {} too", slower ? drift.slowest : drift.fastest,
                  percent(moved), slower ? "slower" : "faster");
}

void check(const CompareRules& rules) {
  const auto is_share = [](double value) { return value > 0.0 && value < 1.0; };
  if (!is_share(rules.floor) || !is_share(rules.p) || !is_share(rules.false_discoveries) ||
      !is_share(rules.confidence) || rules.min_replicas < 1) {
    throw Error("the rules of a comparison are shares between 0 and 1, and at least one replica");
  }
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::newly_wrong: return "newly wrong";
    case Verdict::slower: return "slower";
    case Verdict::gone: return "gone";
    case Verdict::ambiguous: return "ambiguous";
    case Verdict::not_comparable: return "not comparable";
    case Verdict::added: return "new";
    case Verdict::same: return "same";
    case Verdict::faster: return "faster";
  }
  return "?";
}

std::size_t Comparison::count(Verdict verdict) const {
  return static_cast<std::size_t>(std::count_if(
      series.begin(), series.end(), [&](const auto& s) { return s.verdict == verdict; }));
}

bool Comparison::regressed() const {
  return count(Verdict::newly_wrong) + count(Verdict::slower) > 0;
}

bool Comparison::decided() const {
  return regressed() || count(Verdict::same) + count(Verdict::faster) > 0;
}

void sort_by_harm(std::vector<SeriesComparison>& series) {
  std::sort(series.begin(), series.end(), [](const auto& a, const auto& b) {
    const double ratio_a = a.ratio.value_or(0.0);
    const double ratio_b = b.ratio.value_or(0.0);
    return std::tie(a.verdict, ratio_b, a.id) < std::tie(b.verdict, ratio_a, b.id);
  });
}

Comparison compare(const Night& before, const Night& after, const CompareRules& rules) {
  check(rules);
  const Wanted is_control = [](const SeriesId& id) { return id.operator_name == control_operator; };
  Comparison comparison;
  comparison.controls = compare_those(before, after, rules, is_control);
  comparison.series =
      compare_those(before, after, rules, [&](const SeriesId& id) { return !is_control(id); });
  const std::map<Place, Drift> drifts = drifts_of(comparison.controls);
  for (SeriesComparison& series : comparison.series) {
    const auto drift = drifts.find({series.id.device, series.id.problem});
    if (drift != drifts.end()) withhold_what_may_be_the_machines(series, drift->second);
  }
  sort_by_harm(comparison.series);
  sort_by_harm(comparison.controls);
  return comparison;
}

std::vector<SeriesId> to_confirm(const Comparison& comparison) {
  std::vector<SeriesId> ids;
  for (const SeriesComparison& series : comparison.series) {
    const bool uncertain = series.verdict == Verdict::ambiguous && series.adjusted_p.has_value();
    if (uncertain || series.verdict == Verdict::slower || series.verdict == Verdict::faster) {
      ids.push_back(series.id);
    }
  }
  return ids;
}

Comparison compare_confirmed(const Night& before, const Night& after, const Night& fresh_before,
                             const Night& fresh_after, const CompareRules& rules) {
  Comparison comparison = compare(before, after, rules);
  std::map<SeriesId, SeriesComparison> fresh;
  for (SeriesComparison& series : compare(fresh_before, fresh_after, rules).series) {
    fresh.emplace(series.id, std::move(series));
  }
  for (SeriesComparison& series : comparison.series) {
    const bool slower = series.verdict == Verdict::slower;
    if (!slower && series.verdict != Verdict::faster) continue;
    const auto again = fresh.find(series.id);
    if (again == fresh.end() || !again->second.ratio) {
      series.verdict = Verdict::ambiguous;
      series.reason = "fresh processes gave no times to confirm it";
      continue;
    }
    const double ratio = *again->second.ratio;
    const bool shows =
        (ratio > 1.0) == slower && size_of(ratio) >= rules.floor && *again->second.p < confirming_p;
    series.reason =
        fmt::format("{}: a ratio of {:.4f} in {} fresh processes",
                    shows ? "confirmed" : "not confirmed", ratio, again->second.new_replicas);
    if (!shows) series.verdict = Verdict::ambiguous;
  }
  sort_by_harm(comparison.series);
  return comparison;
}

}  // namespace fusebench
