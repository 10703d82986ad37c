// What a variant's timed calls add up to on a timeline, and whether the device's own record agrees with our clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/trace/timeline.hpp"

namespace fusebench {

/// On a device, nanoseconds summed over a variant's calls.
struct WorkSums {
  std::int64_t launches = 0;  ///< kernels
  std::uint64_t kernel_ns = 0;
  std::uint64_t memcpy_ns = 0;
  std::uint64_t memset_ns = 0;
  std::uint64_t span_ns =
      0;  ///< of each call, from the beginning of its first work to the end of its last
  std::uint64_t gap_ns = 0;  ///< of each call's span, when none of its work ran
  std::uint64_t api_ns = 0;  ///< in the driver and the runtime, of each call's own
};

/// All sums are over the calls that are no warm-up.
struct VariantSums {
  std::size_t variant = 0;  ///< index into Timeline::variants
  std::int64_t iterations = 0;
  std::uint64_t call_ns = 0;       ///< on the host's thread, enqueue() alone
  std::optional<double> event_ns;  ///< by the harness's clock; absent where a call has none
  std::optional<WorkSums> work;    ///< absent where nothing was recorded
};

/// One for each variant that has calls, in the order of Timeline::variants.
[[nodiscard]] std::vector<VariantSums> sum_calls(const Timeline& timeline);

/// Nanoseconds that two events take themselves: what they say of a call of Timeline::least_call beyond its span. 0 where
/// nothing tells.
[[nodiscard]] double events_take_ns(const Timeline& timeline);

/// By how much the spans of a call on the device differ from the event time less what events take, all in nanoseconds of a
/// call, where that is more than 2% and more than 1 us; nullopt where they agree or one of the two is not there.
[[nodiscard]] std::optional<double> disagreement_ns(const VariantSums& sums, double events_take_ns);

/// The columns of a file of sums, and a row of it: nanoseconds, empty where there are none.
[[nodiscard]] std::vector<std::string> sums_columns();
[[nodiscard]] std::vector<std::string> sums_row(const TracedVariant& variant,
                                                const VariantSums& sums);

}  // namespace fusebench
