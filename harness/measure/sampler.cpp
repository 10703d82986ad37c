#include "harness/measure/sampler.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "harness/core/error.hpp"
#include "harness/measure/statistics.hpp"

namespace fusebench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t window = 5;
constexpr int most_warm_ups = 100;
constexpr double throttled_share = 0.9;   // of the nominal clock
constexpr double short_call_ns = 10'000;  // launch overhead is no longer small beside these
constexpr double back_to_back_target_ns = 20e6;
constexpr int graph_calls = 100;
// A call may be several kernels, and a stream takes about a thousand behind the holding kernel before
// the host has to wait, for ever.
constexpr int most_back_to_back = 50;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median_of(std::span<const double> values) { return quantile(sorted(values), 0.5); }

void warm_up(const TimedCalls& calls, double max_seconds) {
  const auto start = Clock::now();
  std::vector<double> times;
  for (int i = 0; i < most_warm_ups && !is_stable(times); ++i) {
    times.push_back(calls.cold().ns);
    if (times.size() >= 2 && seconds_since(start) > max_seconds) return;
  }
}

}  // namespace

bool median_is_known(std::span<const double> times_ns, double target_width) {
  // Of fewer, not even the whole range holds the median with 95% probability.
  if (times_ns.size() < 6) return false;
  const std::vector<double> ordered = sorted(times_ns);
  const Interval interval = median_interval(ordered);
  return interval.high - interval.low <= target_width * quantile(ordered, 0.5);
}

bool is_stable(std::span<const double> times_ns) {
  if (times_ns.size() < 2 * window) return false;
  const double now = median_of(times_ns.last(window));
  const double before = median_of(times_ns.last(2 * window).first(window));
  return std::abs(now - before) <= 0.02 * before;
}

Timing take_samples(const TimedCalls& calls, const SamplingLimits& limits,
                    double nominal_clock_mhz) {
  if (calls.entering) calls.entering(Phase::warmup);
  warm_up(calls, limits.max_seconds / 10);
  if (calls.entering) calls.entering(Phase::measure);

  Timing timing;
  std::vector<double> times;
  const auto start = Clock::now();
  std::int64_t next_look = limits.min_samples;
  while (timing.stop_reason.empty()) {
    const Lap lap = calls.cold();
    times.push_back(lap.ns);
    const bool throttled =
        lap.sm_clock_mhz > 0 && lap.sm_clock_mhz < throttled_share * nominal_clock_mhz;
    timing.samples.push_back({lap.ns, lap.sm_clock_mhz, throttled});

    const auto count = static_cast<std::int64_t>(times.size());
    if (count >= next_look) {
      if (median_is_known(times, limits.target_width)) timing.stop_reason = "confidence";
      next_look = count + std::max<std::int64_t>(1, count / 10);
    }
    if (timing.stop_reason.empty() && count >= limits.max_samples)
      timing.stop_reason = "max_samples";
    if (timing.stop_reason.empty() && seconds_since(start) > limits.max_seconds) {
      timing.stop_reason = "max_seconds";
    }
  }

  const double median = median_of(times);
  if (calls.back_to_back) {
    const int count = static_cast<int>(
        std::clamp(back_to_back_target_ns / std::max(median, 1.0), 1.0, double{most_back_to_back}));
    timing.back_to_back_ns = calls.back_to_back(count);
  }
  if (calls.graph && median < short_call_ns) {
    try {
      timing.graph_ns = calls.graph(graph_calls);
    } catch (const Error& error) {
      timing.graph_note = std::string("no graph time: ") + error.what();
    }
  }
  return timing;
}

void summarise(const Timing& timing, Record& record) {
  std::vector<double> times;
  std::vector<double> clocks;
  for (const Sample& sample : timing.samples) {
    times.push_back(sample.ns);
    if (sample.sm_clock_mhz > 0) clocks.push_back(sample.sm_clock_mhz);
  }
  const std::vector<double> ordered = sorted(times);
  const Interval interval = median_interval(ordered);
  record.samples = static_cast<std::int64_t>(times.size());
  record.stop_reason = timing.stop_reason;
  record.median_ns = quantile(ordered, 0.5);
  record.q1_ns = quantile(ordered, 0.25);
  record.q3_ns = quantile(ordered, 0.75);
  record.min_ns = ordered.front();
  record.cv = coefficient_of_variation(times);
  record.ci_low_ns = interval.low;
  record.ci_high_ns = interval.high;
  record.back_to_back_ns = timing.back_to_back_ns;
  record.graph_ns = timing.graph_ns;
  if (*record.median_ns > 0) {
    record.throughput_gbps = static_cast<double>(record.useful_bytes) / *record.median_ns;
  }
  if (!clocks.empty()) record.sm_clock_mhz = median_of(clocks);
}

}  // namespace fusebench
