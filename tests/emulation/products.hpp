// wgmma on the host: D[64 x 128] (+)= A[64 x K] B[K x 128], K of 32 bytes, by a warpgroup, from shared memory.
#pragma once

#include <cstdint>

namespace fusebench::emulation {

enum class Operand { bf16, fp16, tf32 };

/// Where a matrix with swizzled rows of 32, 64 or 128 bytes (`bits` 1, 2, 3) keeps what its layout has at `address`.
[[nodiscard]] constexpr unsigned swizzled(unsigned address, unsigned bits) noexcept {
  return address ^ (address >> 3U & ((1U << bits) - 1) << 4U);
}

/// The running thread's part. `d`: its 64 elements. A is K-major; B too in TF32, else N-major. Is done at any time until
/// the wait for its group.
void begin_product(Operand operand, float* d, std::uint64_t a, std::uint64_t b, bool add);
void commit_products();
/// Before a block begins: one that failed may have left some, whose sums are no more.
void forget_products();
/// Waits for all groups but the newest so many. The warp meets.
void wait_for_products(unsigned newest);

}  // namespace fusebench::emulation
