// What the harness and the variants may know of a device, without touching it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/core/kernel.hpp"
#include "harness/core/outcome.hpp"

namespace fusebench {

struct DeviceTraits {
  DeviceKind kind = DeviceKind::cpu;
  std::string name;              ///< "NVIDIA H200", "AMD EPYC"
  std::string driver;            ///< "580.159 (CUDA 13.0)"; the kernel release on a CPU
  std::string toolkit;           ///< "NVRTC 13.0"; the compiler on a CPU
  std::string clock_policy;      ///< who sets the clocks; rows of different policies never compare
  int processors = 1;            ///< multiprocessors, or hardware threads
  std::int64_t cache_bytes = 0;  ///< the last-level cache
  std::int64_t memory_bytes = 0;
  std::int64_t shared_memory_bytes = 0;  ///< most that one block can have; 0 on a CPU
  double peak_gbps = 0.0;  ///< memory bandwidth by the data sheet, 10^9 B/s; 0 where none is known
  double nominal_clock_mhz = 0.0;            ///< the highest SM clock; 0 on a CPU
  std::optional<Architecture> architecture;  ///< CUDA only
  std::string sharing_refused;  ///< why processes cannot share its memory; empty when they can
};

}  // namespace fusebench
