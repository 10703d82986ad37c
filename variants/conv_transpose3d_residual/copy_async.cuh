// Copies from global to shared memory that go on while threads compute; sm_80 and later.
#pragma once

#include "variants/conv_transpose3d_residual/tensor_core.cuh"

// 16 bytes; both addresses are multiples of 16.
__device__ inline void start_copy(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
               : "memory");
}
// Waits for the copies that this thread has started.
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
