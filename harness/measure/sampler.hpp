// Repeats a call until its median is known well enough, or a limit is reached.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/core/record.hpp"
#include "harness/device/device.hpp"
#include "harness/trace/phase.hpp"

namespace fusebench {

struct SamplingLimits {
  std::int64_t min_samples = 30;
  std::int64_t max_samples = 2000;
  double max_seconds = 2.0;     ///< of wall time for the cold samples, flushes included
  double target_width = 0.002;  ///< of the median's 95% interval, over the median
};

/// What is timed; each function times it in its own way and throws what went wrong. The last two may be
/// empty: where calls in a row would not all do the same.
struct TimedCalls {
  std::function<Lap()> cold;                      ///< one call, nothing of its data in a cache
  std::function<double(int count)> back_to_back;  ///< nanoseconds for one of `count` in a row
  std::function<std::optional<double>(int)>
      graph;                                 ///< likewise in one graph; nullopt without graphs
  std::function<void(Phase)> entering = {};  ///< told, where given, between calls: warmup, measure
};

struct Timing {
  std::vector<Sample> samples;
  std::string stop_reason;                ///< confidence, max_samples or max_seconds
  std::optional<double> back_to_back_ns;  ///< absent where no calls in a row are timed
  std::optional<double> graph_ns;         ///< only for calls under 10 us, where there are graphs
  std::string graph_note;                 ///< why a short call has no graph_ns
};

/// Warms up until two windows of five calls agree within 2% (100 calls at most, or a tenth of
/// max_seconds), samples cold calls, then times calls back to back. `nominal_clock_mhz` tells which
/// samples were throttled; 0 on a CPU. Throws what the calls throw.
[[nodiscard]] Timing take_samples(const TimedCalls& calls, const SamplingLimits& limits,
                                  double nominal_clock_mhz);

/// Is the median known: is its interval at most `target_width` of it wide?
[[nodiscard]] bool median_is_known(std::span<const double> times_ns, double target_width);

/// Are the medians of the last five and the five before within 2%? False for fewer than ten.
[[nodiscard]] bool is_stable(std::span<const double> times_ns);

/// Fills the record's time columns, and throughput from useful_bytes.
void summarise(const Timing& timing, Record& record);

}  // namespace fusebench
