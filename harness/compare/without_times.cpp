#include "harness/compare/without_times.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "harness/compare/size.hpp"

namespace fusebench {
namespace {

// "wrong: 3 elements wrong": a wrong result before any other failure, else the most frequent one.
std::string failure_of(const Replicas& side) {
  const auto worst = std::max_element(
      side.failures.begin(), side.failures.end(), [](const auto& a, const auto& b) {
        return std::pair(a.first == Outcome::wrong, a.second.count) <
               std::pair(b.first == Outcome::wrong, b.second.count);
      });
  return fmt::format("{}: {}", to_string(worst->first), worst->second.reason);
}

std::string in_replicas(std::size_t count, std::size_t of) {
  return fmt::format("in {} of {}", count, counted(of, "replica"));
}

// A failure that was there before, if only in one replica, must not hide one that came with the change.
bool newly_wrong(const Replicas& before, const Replicas& after) {
  if (after.not_passed() == 0) return false;
  if (before.not_passed() == 0) return true;
  const auto is_wrong = [](const Replicas& side) { return side.failures.contains(Outcome::wrong); };
  const auto mostly_passed = [](const Replicas& s) { return s.passed() >= s.not_passed(); };
  return (is_wrong(after) && !is_wrong(before)) ||
         (mostly_passed(before) && !mostly_passed(after)) ||
         (before.passed() > 0 && after.passed() == 0);
}

}  // namespace

std::string remarks_on(const Replicas& before, const Replicas& after) {
  std::vector<std::string> remarks;
  for (const auto& [side, when] : {std::pair{&before, "before"}, {&after, "now"}}) {
    if (side->not_passed() > 0) {
      remarks.push_back(fmt::format("{} {} {}", when, in_replicas(side->not_passed(), side->ran()),
                                    failure_of(*side)));
    }
    if (const auto& [count, reason] = side->unavailable; count > 0) {
      remarks.push_back(fmt::format("{} {} unavailable: {}", when,
                                    in_replicas(count, side->ran() + count), reason));
    }
  }
  return fmt::format("{}", fmt::join(remarks, "; "));
}

std::optional<Verdict> verdict_without_times(const Replicas& before, const Replicas& after,
                                             SeriesComparison& series) {
  const auto call = [&](Verdict verdict, std::string reason) {
    series.reason = std::move(reason);
    return verdict;
  };
  if (newly_wrong(before, after)) {
    std::string reason =
        fmt::format("{}; {}", failure_of(after), in_replicas(after.not_passed(), after.ran()));
    if (before.not_passed() > 0) reason += fmt::format(", before in {}", before.not_passed());
    return call(Verdict::newly_wrong, reason);
  }
  if (after.ran() == 0) {
    return call(Verdict::gone, after.unavailable.count == 0
                                   ? "not there any more"
                                   : "unavailable: " + after.unavailable.reason);
  }
  if (before.ran() == 0) {
    return call(Verdict::added, before.unavailable.count == 0
                                    ? ""
                                    : "it was unavailable: " + before.unavailable.reason);
  }
  if (before.passed() == 0) {
    if (after.passed() > 0) return call(Verdict::added, "it was " + failure_of(before));
    return call(Verdict::not_comparable, "in both not passed, now " + failure_of(after));
  }
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

}  // namespace fusebench
