#include "harness/compare/comparison.hpp"

#include <algorithm>
#include <functional>
#include <future>
#include <thread>
#include <tuple>

#include "harness/compare/drift.hpp"
#include "harness/compare/series_verdict.hpp"
#include "harness/compare/size.hpp"
#include "harness/compare/without_times.hpp"
#include "harness/core/error.hpp"

namespace fusebench {
namespace {

const Replicas absent;
constexpr double confirming_p = 0.05;  // of what is suspected already

// A series that its times decide.
struct Timed {
  std::size_t index;                  // in the list of all
  std::vector<double> before, after;  // medians, sorted
  std::string remarks;
};

// Thousands of series take a second: on all cores.
void fill_all(std::vector<SeriesComparison>& all, std::span<const Timed> timed,
              const CompareRules& rules) {
  const auto fill = [&](std::span<const Timed> part) {
    Statistician statistician(rules);
    for (const Timed& t : part) statistician.fill(t.before, t.after, all[t.index]);
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

// The number of those that have a p, for which there must be enough replicas.
std::size_t adjust(std::vector<SeriesComparison>& all, std::span<const Timed> timed,
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
  return tested.size();
}

using Wanted = std::function<bool(const SeriesId&)>;

std::vector<SeriesComparison> compare_those(const Night& before, const Night& after,
                                            const CompareRules& rules, const Wanted& wanted,
                                            const Drifts& drifts) {
  std::vector<SeriesComparison> all;
  std::vector<Timed> timed;
  const auto add = [&](const SeriesId& id, const Replicas& old_side, const Replicas& new_side) {
    if (!wanted(id) || old_side.ran() + new_side.ran() == 0) return;
    SeriesComparison series;
    series.id = id;
    series.old_replicas = old_side.medians_ns.size();
    series.new_replicas = new_side.medians_ns.size();
    series.failed = new_side.not_passed() > 0;
    std::vector<double> a = sorted(old_side.medians_ns);
    std::vector<double> b = sorted(new_side.medians_ns);
    if (!a.empty()) series.old_median_ns = median(a);
    if (!b.empty()) series.new_median_ns = median(b);
    if (const auto verdict = verdict_without_times(old_side, new_side, series)) {
      series.verdict = *verdict;
    } else {
      timed.push_back({all.size(), std::move(a), std::move(b), remarks_on(old_side, new_side)});
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
  const std::size_t tested = adjust(all, timed, rules);
  for (const Timed& t : timed) {
    SeriesComparison& series = all[t.index];
    judge_times(series, rules, tested);
    withhold_what_may_be_the_machines(series, drifts, rules);
    if (!t.remarks.empty()) series.reason += (series.reason.empty() ? "" : "; ") + t.remarks;
  }
  return all;
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
  if (regressed()) return true;
  const bool any_out_of_reach =
      std::any_of(series.begin(), series.end(), [](const auto& s) { return s.out_of_reach; });
  return !any_out_of_reach && count(Verdict::same) + count(Verdict::faster) > 0;
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
  comparison.controls = compare_those(before, after, rules, is_control, {});
  comparison.series = compare_those(
      before, after, rules, [&](const SeriesId& id) { return !is_control(id); },
      drifts_of(comparison.controls));
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

Comparison compare_confirmed(const Builds& first, const Builds& fresh, const CompareRules& rules) {
  const Builds all = pooled(first, fresh);
  Comparison comparison = compare(all.before, all.after, rules);
  std::map<SeriesId, SeriesComparison> alone;
  for (SeriesComparison& series : compare(fresh.before, fresh.after, rules).series) {
    alone.emplace(series.id, std::move(series));
  }
  for (SeriesComparison& series : comparison.series) {
    const bool slower = series.verdict == Verdict::slower;
    if (!slower && series.verdict != Verdict::faster) continue;
    const auto again = alone.find(series.id);
    if (again == alone.end() || !again->second.ratio) {
      series.verdict = Verdict::ambiguous;
      series.reason = "fresh processes gave no times to confirm it";
      continue;
    }
    const double ratio = *again->second.ratio;
    const bool shows = (ratio > 1.0) == slower && reaches(*again->second.size, rules.floor) &&
                       *again->second.p < confirming_p;
    const std::string remarks = series.reason.empty() ? "" : "; " + series.reason;
    series.reason = fmt::format("{}: a ratio of {:.4f} in {} fresh processes{}",
                                shows ? "confirmed" : "not confirmed", ratio,
                                again->second.new_replicas, remarks);
    if (!shows) series.verdict = Verdict::ambiguous;
  }
  sort_by_harm(comparison.series);
  return comparison;
}

}  // namespace fusebench
