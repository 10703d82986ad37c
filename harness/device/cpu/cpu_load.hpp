// Work beside a candidate's, to disturb its timing.
#pragma once

#include <memory>

#include "harness/device/device.hpp"

namespace fusebench {

/// One thread that streams through memory until the load goes away.
[[nodiscard]] std::unique_ptr<Load> start_cpu_load();

}  // namespace fusebench
