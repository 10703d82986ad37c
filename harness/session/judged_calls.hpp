// The calls that are timed, every one of them judged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/sampler.hpp"
#include "harness/session/host_clock.hpp"
#include "harness/verify/examiner.hpp"

namespace fusebench {

/// Thrown when a timed call left a wrong output.
struct WrongOutput {
  Verdict verdict;
};

/// Before each call: new contents at the same addresses, new poison. After it every output element is
/// counted against the oracle. To the candidate every call looks the same, whether it warms up or is
/// timed. All throw WrongOutput and what the candidate throws.
class JudgedCalls {
 public:
  /// All arguments outlive it; the candidate has prepared for `bench`.
  JudgedCalls(Candidate& candidate, Workbench& bench, const AcceptanceRule& rule, Device& device,
              std::uint64_t seed);

  [[nodiscard]] Lap cold();
  /// A cold call by the judge's own clock too; to the candidate it is a call like any other.
  [[nodiscard]] TwiceTimed cold_twice_timed();
  /// Those made while others were timed: before the 1st, 2nd, 4th, 8th and every 16th, so that a host that is
  /// slow for a while slows both.
  [[nodiscard]] const std::vector<TwiceTimed>& twice_timed() const noexcept { return twice_timed_; }
  /// `count` calls in a row on one input, of which the last output is judged; nanoseconds for one.
  [[nodiscard]] double back_to_back(int count);
  [[nodiscard]] std::optional<double> graph(int count);

  /// In place only cold calls: each in a row would work on the output of the one before, which no oracle
  /// judges.
  [[nodiscard]] TimedCalls timed();
  [[nodiscard]] std::int64_t calls() const noexcept { return calls_; }

 private:
  void prepare();
  void judge();

  Candidate* candidate_;
  Workbench* bench_;
  AcceptanceRule rule_;
  Device* device_;
  std::uint64_t contents_;  // names the next call's inputs
  std::int64_t calls_ = 0;
  std::uint64_t cold_calls_ = 0;
  std::vector<TwiceTimed> twice_timed_;
};

/// Why the times that a candidate's process reported cannot be believed; nullopt when they can. Takes more
/// calls by the judge's clock, over a second at most, where those between the timed ones leave a doubt.
[[nodiscard]] std::optional<std::string> doubt_times(JudgedCalls& calls, double median_ns);

}  // namespace fusebench
