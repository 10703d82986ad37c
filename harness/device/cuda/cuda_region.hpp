// Device memory that another process can map, between unmapped addresses.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harness/device/region.hpp"

namespace fusebench {

/// As Device::make_region and Device::open_region. Where the device has no virtual memory management the
/// region is a plain allocation: neither shared nor guarded.
[[nodiscard]] std::unique_ptr<Region> make_cuda_region(std::size_t bytes);
[[nodiscard]] std::unique_ptr<Region> open_cuda_region(int descriptor, std::size_t bytes,
                                                       bool writable);
/// Why regions cannot be shared between processes on the first device; nullopt when they can.
[[nodiscard]] std::optional<std::string> cuda_sharing_refused();

}  // namespace fusebench
