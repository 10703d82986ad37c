// Shared host memory between unmapped pages.
#pragma once

#include <memory>
#include <string>

#include "harness/device/region.hpp"

namespace fusebench {

/// As Device::make_region and Device::open_region.
[[nodiscard]] std::unique_ptr<Region> make_cpu_region(std::size_t bytes, bool others_may_write);
[[nodiscard]] std::unique_ptr<Region> open_cpu_region(int descriptor, std::size_t bytes,
                                                      bool writable);
/// Why regions cannot be shared between processes here; empty when they can.
[[nodiscard]] std::string cpu_sharing_refused();

}  // namespace fusebench
