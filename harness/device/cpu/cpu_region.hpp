// Shared host memory between unmapped pages.
#pragma once

#include <memory>

#include "harness/device/region.hpp"

namespace fusebench {

/// As Device::make_region and Device::open_region.
[[nodiscard]] std::unique_ptr<Region> make_cpu_region(std::size_t bytes, bool others_may_write);
[[nodiscard]] std::unique_ptr<Region> open_cpu_region(int descriptor, std::size_t bytes,
                                                      bool writable);

}  // namespace fusebench
