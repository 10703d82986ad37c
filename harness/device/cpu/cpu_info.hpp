// What this machine's processor is, read from the system.
#pragma once

#include "harness/core/device_traits.hpp"

namespace fusebench {

/// Fills every field but the peak bandwidth, which no system file tells (0).
[[nodiscard]] DeviceTraits read_cpu_traits();

}  // namespace fusebench
