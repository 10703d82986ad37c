#include "harness/device/cuda/device_kernels.hpp"

#include <string>

#include "harness/device/fma_control.hpp"

namespace fusebench {

KernelSpec memory_kernels() {
  return {.source = "harness/device/cuda/kernels/memory.cu", .macros = {}};
}

KernelSpec timing_kernels() {
  return {.source = "harness/device/cuda/kernels/timing.cu", .macros = {}};
}

KernelSpec load_kernel() { return {.source = "harness/device/cuda/kernels/load.cu", .macros = {}}; }

KernelSpec control_kernels() {
  return {.source = "harness/device/cuda/kernels/controls.cu",
          .macros = {{"COPY_BLOCK", std::to_string(copy_block)},
                     {"FILL_BLOCK", std::to_string(fill_block)},
                     {"FILL_ITEMS", std::to_string(fill_items)},
                     {"FMA_BLOCK", std::to_string(fma_block)},
                     {"FMA_STEPS", std::to_string(fma_steps)},
                     {"LOAD", "load_l2"},
                     {"STORE", "store_default"}}};
}

}  // namespace fusebench
