#include "harness/session/judged_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "harness/core/generator.hd.hpp"

namespace fusebench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t contents_stream = 0xC047;
// Queuing takes time that events do not see, a few microseconds a kernel.
constexpr double queuing_ns = 6'000;
constexpr std::int64_t most_kernels = 32;
constexpr double burst_ns = 2e6;
constexpr double cold_ratio_limit = 3.0;
constexpr int tries = 5;

double wall_ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

}  // namespace

JudgedCalls::JudgedCalls(Candidate& candidate, Workbench& bench, const AcceptanceRule& rule,
                         Device& device, std::uint64_t seed)
    : candidate_(&candidate),
      bench_(&bench),
      rule_(rule),
      device_(&device),
      contents_(random_bits(contents_stream, seed)) {}

void JudgedCalls::prepare() {
  bench_->renew(random_bits(contents_stream, contents_++));
  // The inputs are read only where a process is judged by another, and new each time; watching them as
  // well would cost as much as the call.
  bench_->prepare(/*watch_inputs=*/false);
  device_->quiesce();
}

void JudgedCalls::judge() {
  ++calls_;
  Verdict verdict = judge_output(*bench_, rule_);
  if (verdict.right) return;
  verdict.reason =
      fmt::format("right at first, wrong in timed call {}: {}", calls_, verdict.reason);
  throw WrongOutput{std::move(verdict)};
}

Lap JudgedCalls::cold() {
  prepare();
  const Lap lap = candidate_->sample();
  judge();
  return lap;
}

Burst JudgedCalls::burst(int count) {
  prepare();
  const auto start = Clock::now();
  const double reported = candidate_->back_to_back(count);
  const double wall = wall_ns_since(start);
  judge();
  return {wall, reported};
}

std::optional<double> JudgedCalls::graph(int count) {
  prepare();
  const auto ns = candidate_->graph(count);
  if (ns) judge();
  return ns;
}

TimedCalls JudgedCalls::timed() {
  return {[this] { return cold(); }, [this](int count) { return burst(count).reported_ns; },
          [this](int count) { return graph(count); }};
}

std::optional<std::string> doubt_times(JudgedCalls& calls, Candidate& candidate,
                                       const Timing& timing, double median_ns) {
  const std::int64_t before = candidate.launches();
  (void)calls.burst(1);
  const auto kernels = std::min<std::int64_t>(candidate.launches() - before, most_kernels);
  const double slack = clock_slack_ns + queuing_ns * static_cast<double>(kernels);
  const int count =
      static_cast<int>(std::clamp(burst_ns / std::max(timing.back_to_back_ns, 1.0), 4.0, 50.0));
  if (auto reason = clocks_disagree([&](int n) { return calls.burst(n); }, count, slack)) {
    return reason;
  }
  // A call cannot take much longer with warm caches than with cold ones, unless the host was busy.
  double warm_ns = timing.back_to_back_ns;
  for (int i = 0; i < tries && warm_ns > cold_ratio_limit * median_ns + slack; ++i) {
    warm_ns = std::min(warm_ns, calls.burst(count).reported_ns);
  }
  if (warm_ns <= cold_ratio_limit * median_ns + slack) return std::nullopt;
  return fmt::format("{:.0f} ns cold, yet {:.0f} ns back to back: the cold time cannot be believed",
                     median_ns, warm_ns);
}

}  // namespace fusebench
