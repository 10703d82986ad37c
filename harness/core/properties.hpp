// What a constraint may know of the problem and of the device.
#pragma once

#include <optional>

#include "harness/core/device_traits.hpp"
#include "harness/core/operator.hpp"
#include "harness/core/parameters.hpp"

namespace fusebench {

/// The problem's sizes by their names and, where there is a device: processors, cache_bytes, memory_bytes,
/// shared_memory_bytes (as in DeviceTraits) and, on a GPU, architecture (90 for sm_90a).
[[nodiscard]] Properties properties_of(const Problem& problem,
                                       const std::optional<DeviceTraits>& device);

}  // namespace fusebench
