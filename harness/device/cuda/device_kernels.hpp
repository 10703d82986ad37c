// The harness's own kernels, with the macros they are compiled with.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/core/kernel.hpp"

namespace fusebench {

/// Threads of a block, and float4s a thread, of the controls. The fastest of a sweep on an H200: a copy
/// likes small blocks that each touch little, a fill likes several stores a thread.
inline constexpr std::int64_t copy_block = 128;
inline constexpr std::int64_t fill_block = 256;
inline constexpr std::int64_t fill_items = 4;
inline constexpr std::int64_t fma_block = 256;

[[nodiscard]] KernelSpec memory_kernels();   ///< generate, poison, fingerprint
[[nodiscard]] KernelSpec timing_kernels();   ///< hold, read_clock
[[nodiscard]] KernelSpec control_kernels();  ///< copy, fill, fma_chains

[[nodiscard]] KernelSpec load_kernel();  ///< load

/// All of the above, for compiling them without a device.
[[nodiscard]] inline std::vector<KernelSpec> device_kernels() {
  return {memory_kernels(), timing_kernels(), control_kernels(), load_kernel()};
}

}  // namespace fusebench
