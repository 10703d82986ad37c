#include "harness/cli/variant_search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "harness/tune/variant_space.hpp"

namespace fusebench {
namespace {

// What between two processes, minutes apart, the medians' intervals know nothing of.
constexpr double slack = 1.01;
constexpr std::size_t proposed_ahead = 32;
constexpr std::size_t suspects = 4;  // kernels compiled on suspicion for each that will be measured

}  // namespace

VariantSearch::VariantSearch(Item item, SearchSpace space, std::size_t budget, TuningBasis basis)
    : item_(std::move(item)),
      space_(std::move(space)),
      budget_(budget),
      basis_(std::move(basis)),
      default_(index_of(space_, item_.job.configuration)),
      walk_(space_.size()) {}

void VariantSearch::begin(const std::string& strategy, std::uint64_t seed,
                          const std::vector<std::string>& first) {
  strategy_ = make_strategy(strategy, space_, {.seed = seed, .budget = budget_});
  for (const StrategyInfo& info : strategies()) {
    if (info.name == strategy) learns_ = info.learns;
  }
  // The default first: a gain is counted from it.
  if (default_) favourites_.push_back(*default_);
  for (const std::string& text : first) {
    if (const auto index = index_of(space_, text)) favourites_.push_back(*index);
  }
  first_.assign(favourites_.begin(), favourites_.end());
  std::iota(walk_.begin(), walk_.end(), std::size_t{0});
  if (strategy != "exhaustive") std::shuffle(walk_.begin(), walk_.end(), std::mt19937_64(seed));
  walk_.resize(std::min(walk_.size(), std::max(proposed_ahead, suspects * budget_)));
}

std::string VariantSearch::obstacle_to(const TuningEntry& entry) const {
  if (entry.basis.source != basis_.source) return "of other sources of the variant";
  if (entry.basis.toolkit != basis_.toolkit) return "of another toolkit";
  if (entry.basis.options != basis_.options) return "of other compiler options";
  if (entry.basis.driver != basis_.driver) return "of another driver";
  if (entry.basis.battery != basis_.battery) return "verified on another battery";
  return index_of(space_, entry.configuration) ? "" : "no configuration of the space";
}

bool VariantSearch::knows(const std::string& configuration) const {
  const auto index = index_of(space_, configuration);
  return index && known_.contains(*index);
}

bool VariantSearch::take_up(const TuningEntry& entry) {
  if (entry.variant != item_.job.variant || !obstacle_to(entry).empty()) return false;
  const bool failed_in_final = entry.stage == "final" && entry.outcome != "passed";
  if (entry.stage != "search" && !failed_in_final) return false;
  const auto index = index_of(space_, entry.configuration);
  if (failed_in_final && find(index) != nullptr) {
    fail(*index, entry.outcome);
    return true;
  }
  if (known_.contains(*index)) return false;
  learn(*index, entry.outcome, entry.median_ns, entry.samples_ns);
  return true;
}

std::optional<std::size_t> VariantSearch::propose(bool first_only) {
  while (!first_.empty()) {
    const std::size_t index = first_.front();
    first_.pop_front();
    if (!known_.contains(index)) return index;
  }
  if (first_only || done() >= budget_) return std::nullopt;
  const std::size_t wanted = learns_ ? 1 : std::min(proposed_ahead, left());
  while (ahead_.size() < wanted) {
    const auto index = strategy_->ask();
    if (!index) break;
    if (!known_.contains(*index)) ahead_.push_back(*index);
  }
  if (ahead_.empty()) return std::nullopt;
  const std::size_t index = ahead_.front();
  ahead_.pop_front();
  return index;
}

void VariantSearch::learn(std::size_t index, const std::string& outcome, double median_ns,
                          const std::vector<double>& samples_ns) {
  const bool passed = outcome == "passed" && median_ns > 0.0;
  if (!known_.try_emplace(index, outcome).second) return;
  strategy_->tell(index, passed ? std::optional(median_ns) : std::nullopt);
  if (!passed) {
    ++failures_[outcome];
    return;
  }
  // Fewer samples say nothing of the noise: it may be anywhere.
  constexpr double anywhere = std::numeric_limits<double>::infinity();
  Passed one{.index = index, .median_ns = median_ns, .interval = {0.0, anywhere}};
  if (samples_ns.size() >= 6) one.interval = median_interval(sorted(samples_ns));
  passed_.push_back(one);
}

std::vector<Configuration> VariantSearch::likely(
    std::size_t most, const std::function<bool(const Configuration&)>& is_known) {
  std::vector<Configuration> wanted;
  const auto add = [&](std::size_t index) {
    if (wanted.size() >= most || known_.contains(index)) return;
    Configuration one = configuration(index);
    if (!is_known(one)) wanted.push_back(std::move(one));
  };
  for (const std::size_t index : first_) add(index);
  for (const std::size_t index : ahead_) add(index);
  if (const Passed* leader = best(); learns_ && leader != nullptr) {
    for (const std::size_t index : space_.neighbours(leader->index)) add(index);
  }
  // What was known stays known: none is asked for twice.
  for (bool behind = true; walked_ < walk_.size() && wanted.size() < most;) {
    const std::size_t index = walk_[walked_];
    const std::size_t before = wanted.size();
    add(index);
    behind = behind && wanted.size() == before;
    if (!behind) break;
    ++walked_;
  }
  for (std::size_t i = walked_ + 1; i < walk_.size() && wanted.size() < most; ++i) add(walk_[i]);
  return wanted;
}

void VariantSearch::begin_final(std::size_t most) {
  final_.clear();
  step_ = 0;
  std::vector<double> medians;
  std::vector<Interval> intervals;
  for (const Passed& one : passed_) {
    medians.push_back(one.median_ns);
    intervals.push_back(one.interval);
  }
  for (const std::size_t i : within_noise(medians, intervals, slack, most)) {
    final_.push_back({.index = passed_[i].index});
  }
  for (const std::size_t index : favourites_) {
    if (final_.empty() || find(index) == nullptr || is_contestant(index)) continue;
    final_.push_back({.index = index});
  }
  if (final_.size() < 2) final_.clear();
}

std::optional<std::size_t> VariantSearch::next_in_final() {
  for (; step_ < rounds * final_.size(); ++step_) {
    if (const Contestant& one = in_turn(); !one.failed) return one.index;
  }
  return std::nullopt;
}

// Forth in one round and back in the next.
VariantSearch::Contestant& VariantSearch::in_turn() {
  const std::size_t round = step_ / final_.size();
  const std::size_t place = step_ % final_.size();
  return final_[round % 2 == 0 ? place : final_.size() - 1 - place];
}

void VariantSearch::learn_in_final(std::optional<double> median_ns, const std::string& outcome) {
  Contestant& one = in_turn();
  if (median_ns) {
    one.times_ns.push_back(*median_ns);
  } else {
    one.failed = true;
    fail(one.index, outcome);
  }
  ++step_;
}

void VariantSearch::fail(std::size_t index, const std::string& outcome) {
  std::erase_if(passed_, [&](const Passed& one) { return one.index == index; });
  known_[index] = outcome;
  ++failures_[outcome];
}

bool VariantSearch::is_contestant(std::size_t index) const {
  return std::any_of(final_.begin(), final_.end(),
                     [&](const Contestant& one) { return one.index == index; });
}

bool VariantSearch::needs_another_final() const {
  const Passed* const leader = best();
  return leader != nullptr && !final_.empty() && !is_contestant(leader->index) &&
         std::any_of(final_.begin(), final_.end(),
                     [](const Contestant& one) { return one.failed; });
}

bool VariantSearch::has_passed(const std::string& configuration) const {
  const auto index = index_of(space_, configuration);
  return index && find(index) != nullptr;
}

std::size_t VariantSearch::final_steps() const { return rounds * final_.size(); }

std::size_t VariantSearch::final_steps_left() const {
  return final_steps() - std::min(step_, final_steps());
}

std::size_t VariantSearch::final_rounds() const {
  std::size_t least = rounds;
  bool any = false;
  for (const Contestant& one : final_) {
    if (one.failed) continue;
    least = std::min(least, one.times_ns.size());
    any = true;
  }
  return any ? least : 0;
}

std::vector<const VariantSearch::Contestant*> VariantSearch::survivors() const {
  std::vector<const Contestant*> all;
  if (final_rounds() < least_rounds) return all;
  for (const Contestant& one : final_) {
    if (!one.failed) all.push_back(&one);
  }
  return all;
}

Champion VariantSearch::champion() const {
  const Passed* const leader = best();
  if (leader == nullptr) return {};
  const std::vector<const Contestant*> finalists = survivors();
  if (finalists.empty()) {
    const Passed* const usual = find(default_);
    return {.configuration = space_.to_string(leader->index),
            .median_ns = leader->median_ns,
            .default_ratio = usual == nullptr ? 0.0 : usual->median_ns / leader->median_ns};
  }
  std::vector<std::vector<double>> times;
  for (const Contestant* one : finalists) times.push_back(whole_rounds_of(*one));
  const ContestResult result = decide_contest(times);
  std::size_t chosen = result.winner;
  // Noise alone is no reason to leave the default.
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    if (finalists[i]->index == default_ && result.standings[i].tied) chosen = i;
  }
  Champion champion{.configuration = space_.to_string(finalists[chosen]->index),
                    .median_ns = result.standings[chosen].median_ns,
                    .kept_default = chosen != result.winner};
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    const Standing& standing = result.standings[i];
    if (finalists[i]->index == default_) {
      champion.default_ratio = champion.kept_default ? 1.0 : standing.ratio;
      if (final_rounds() == rounds && i != chosen) champion.of_ratio = standing.interval;
    }
    if (i != chosen && (standing.tied || i == result.winner)) {
      champion.ties.push_back(space_.to_string(finalists[i]->index));
    }
  }
  return champion;
}

std::vector<double> VariantSearch::whole_rounds_of(const Contestant& one) const {
  return {one.times_ns.begin(), one.times_ns.begin() + static_cast<std::ptrdiff_t>(final_rounds())};
}

std::vector<TuningEntry> VariantSearch::final_entries() const {
  std::vector<TuningEntry> entries;
  for (const Contestant* one : survivors()) {
    entries.push_back({.stage = "final",
                       .variant = item_.job.variant,
                       .configuration = space_.to_string(one->index),
                       .outcome = "passed",
                       .median_ns = median(sorted(whole_rounds_of(*one))),
                       .samples_ns = whole_rounds_of(*one),
                       .basis = basis_});
  }
  return entries;
}

const VariantSearch::Passed* VariantSearch::find(std::optional<std::size_t> index) const {
  const auto found = std::find_if(passed_.begin(), passed_.end(),
                                  [&](const Passed& one) { return one.index == index; });
  return found == passed_.end() ? nullptr : &*found;
}

const VariantSearch::Passed* VariantSearch::best() const {
  const auto found =
      std::min_element(passed_.begin(), passed_.end(),
                       [](const Passed& a, const Passed& b) { return a.median_ns < b.median_ns; });
  return found == passed_.end() ? nullptr : &*found;
}

std::optional<double> VariantSearch::best_ns() const {
  const Passed* const one = best();
  return one == nullptr ? std::nullopt : std::optional(one->median_ns);
}

std::optional<double> VariantSearch::default_ns() const {
  const Passed* const one = find(default_);
  return one == nullptr ? std::nullopt : std::optional(one->median_ns);
}

Configuration VariantSearch::configuration(std::size_t index) const {
  return item_.variant->info().parameters.parse(space_.to_string(index));
}

}  // namespace fusebench
