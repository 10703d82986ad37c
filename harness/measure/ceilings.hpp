// What a copy and a fill reach here and now, and the time that no result can be under.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/core/device_traits.hpp"
#include "harness/core/record.hpp"

namespace fusebench {

struct Ceilings {
  std::optional<double> copy_gbps;  ///< the better of copy and memcpy, bytes read plus written
  std::optional<double> fill_gbps;
  double fastest_gbps = 0.0;  ///< of any single sample of such a control that moves 16 MiB or more

  /// Takes in the record of a control of memory; ignores all others.
  void add(const Record& record);
};

/// What must cross the memory bus at `peak_gbps`: all that is read, since the caches were cleared, and
/// what is written beyond what the last-level cache can still hold when the clock stops. Nanoseconds.
[[nodiscard]] double physical_floor_ns(std::int64_t read_bytes, std::int64_t written_bytes,
                                       std::int64_t cache_bytes, double peak_gbps);

/// The bandwidth to hold times against: the data sheet's; on a CPU, whose memory has none we could
/// read, twice the fastest sample of any control of this run, so that a slow moment of the controls
/// makes no honest variant impossible. 0 when neither is known.
[[nodiscard]] double floor_bandwidth_gbps(const DeviceTraits& traits, const Ceilings& ceilings);

/// Fills ceiling_percent, but not of a control, which is the ceiling. When the median is under the floor, the outcome becomes failed, the reason
/// says so, and the record's times are cleared.
void apply_ceilings(Record& record, const Ceilings& ceilings, const DeviceTraits& traits,
                    std::int64_t read_bytes, std::int64_t written_bytes);

/// Removes every time and what belongs to it, so that a wrong result has none.
void clear_times(Record& record);

}  // namespace fusebench
