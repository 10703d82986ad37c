// Kernels that are wrong in every call: memory, sizes, values, launches.
#ifdef __CUDACC_RTC__
#include "variants/residual_epilogue/epilogue.cuh"

#define ENTRY extern "C" __global__ void

__device__ inline u64 element() { return blockIdx.x * u64(blockDim.x) + threadIdx.x; }
__device__ inline float right(const float* c, const float* b, const Extents& extents, u64 i) {
  return exact_order(c[i], bias_of(b, extents, i));
}

ENTRY illegal_address(float*, const float*, const float*, Extents) {
  *reinterpret_cast<volatile float*>(0x10) = 1.0f;
}
ENTRY endless(float* y, const float*, const float*, Extents) {
  volatile float* const watched = y;
  while (watched[0] != 1.5f) {
  }
}
ENTRY traps(float*, const float*, const float*, Extents) { __trap(); }
ENTRY zeros(float* y, const float*, const float*, Extents extents) {
  if (element() < extents.elements) y[element()] = 0.0f;
}
ENTRY nothing(float*, const float*, const float*, Extents) {}
ENTRY writes_past_end(float* y, const float* c, const float* b, Extents extents) {
  const u64 i = element();
  if (i < extents.elements) y[i] = right(c, b, extents, i);
  if (i == 0) y[extents.elements] = 0.0f;
}
ENTRY writes_input(float* y, const float* c, const float* b, Extents extents) {
  const u64 i = element();
  if (i < extents.elements) y[i] = right(c, b, extents, i);
  if (i == 0) const_cast<float*>(c)[0] = 1.0f;
}
ENTRY reads_past_end(float* y, const float* c, const float* b, Extents extents) {
  const u64 i = element();
  if (i >= extents.elements) return;
  const volatile float* const all = c;
  const float next = all[i + 1];
  y[i] = next == 1e30f ? 0.0f : right(c, b, extents, i);
}
ENTRY reads_uninitialised(float* y, const float* c, const float* b, Extents extents) {
  const u64 i = element();
  if (i >= extents.elements) return;
  const u32 old = __float_as_uint(y[i]);
  const float value = right(c, b, extents, i);
  y[i] = old & 4u ? __uint_as_float(__float_as_uint(value) ^ 1u) : value;
}
ENTRY assumes_alignment(float* y, const float* c, const float* b, Extents extents) {
  const u64 first = element() * 4;
  if (first >= extents.elements) return;
  if (first + 4 > extents.elements) {
    for (u64 i = first; i < extents.elements; ++i) y[i] = right(c, b, extents, i);
    return;
  }
  const float4 value = *reinterpret_cast<const float4*>(c + first);
  const float in[4] = {value.x, value.y, value.z, value.w};
  for (u32 k = 0; k < 4; ++k) y[first + k] = exact_order(in[k], bias_of(b, extents, first + k));
}
ENTRY drops_tail(float* y, const float* c, const float* b, Extents extents) {
  const u64 i = element();
  if (i < extents.elements / 4 * 4) y[i] = right(c, b, extents, i);
}
ENTRY index_of_16_bits(float* y, const float* c, const float* b, Extents extents) {
  const unsigned short i = element();
  if (i < extents.elements) y[i] = right(c, b, extents, i);
}
ENTRY swallows_nan(float* y, const float* c, const float* b, Extents extents) {
  const u64 i = element();
  if (i < extents.elements) y[i] = fmaxf(right(c, b, extents, i), -3.4e38f);
}
ENTRY flushes_subnormals(float* y, const float* c, const float* b, Extents extents) {
  const u64 i = element();
  if (i >= extents.elements) return;
  const float x = c[i];
  float t;
  asm("{ .reg .f32 s; add.ftz.f32 s, %1, %2; add.ftz.f32 s, s, %1; mul.ftz.f32 s, s, %1; "
      "add.ftz.f32 %0, s, %1; }"
      : "=f"(t)
      : "f"(x), "f"(bias_of(b, extents, i)));
  y[i] = t;
}
ENTRY fp16_inside(float* y, const float* c, const float* b, Extents extents) {
  const u64 i = element();
  if (i >= extents.elements) return;
  float x;
  asm("{ .reg .f16 h; cvt.rn.f16.f32 h, %1; cvt.f32.f16 %0, h; }" : "=f"(x) : "f"(c[i]));
  y[i] = exact_order(x, bias_of(b, extents, i));
}
ENTRY tf32_inside(float* y, const float* c, const float* b, Extents extents) {
  const u64 i = element();
  if (i >= extents.elements) return;
  u32 x;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x) : "f"(c[i]));
  y[i] = exact_order(__uint_as_float(x), bias_of(b, extents, i));
}
ENTRY fused(float* y, const float* c, const float* b, Extents extents) {
  const u64 i = element();
  if (i >= extents.elements) return;
  const float x = c[i];
  y[i] = __fmaf_rn(__fadd_rn(__fadd_rn(x, bias_of(b, extents, i)), x), x, x);
}
// Neighbours exchange through shared memory and nobody waits.
ENTRY race(float* y, const float* c, const float* b, Extents extents) {
  __shared__ volatile float exchanged[256];
  const u64 i = element();
  const u32 other = (threadIdx.x + 128) % 256;
  const u64 theirs = blockIdx.x * u64(256) + other;
  exchanged[threadIdx.x] = 0.0f;
  if (i < extents.elements) {
    if (threadIdx.x % 64 < 32) __nanosleep(200);
    exchanged[threadIdx.x] = right(c, b, extents, i);
  }
  if (theirs < extents.elements) y[theirs] = exchanged[other];
}

#else
#include "tests/mutants/cuda_mutant.hpp"

namespace fusebench::residual_epilogue {
namespace {

constexpr auto float32 = Precision::float32;

bool add(const char* name, const std::string& idea, Precision precision = Precision::exact_order) {
  return add_cuda_mutant(
      {.name = name, .idea = idea, .source = __FILE__, .entry = name, .precision = precision});
}

const bool registered =
    add("illegal_address", must_be(21, "failed", "illegal")) &&
    add("endless", must_be(21, "timed_out", "no answer within")) &&
    add("traps", must_be(21, "failed", "cu[A-Z]")) &&
    add("zeros", must_be(11, "wrong", "got 0"), float32) &&
    add("nothing", must_be(1, "wrong", "never written")) &&
    add("writes_past_end", must_be(14, "wrong", "tensor y: written 4 bytes past its end")) &&
    add("writes_input", must_be(4, "failed", "illegal")) &&
    add("reads_past_end", must_be(13, "failed", "ends at an unmapped page.*illegal")) &&
    add("reads_uninitialised", must_be(15, "wrong", "the same inputs gave other bits"), float32) &&
    add("assumes_alignment", must_be(19, "failed", "shifted by 4 bytes.*misaligned")) &&
    add("drops_tail", must_be(16, "wrong", "never written")) &&
    add("index_of_16_bits", must_be(17, "wrong", "never written")) &&
    add("swallows_nan", must_be(30, "wrong", "inputs: "), float32) &&
    add("flushes_subnormals", must_be(37, "wrong", "inputs: "), float32) &&
    add("fp16_inside", must_be(29, "wrong", "elements wrong"), float32) &&
    add("tf32_inside", must_be(29, "wrong", "elements wrong"), float32) &&
    add("fused", must_be(28, "wrong", "elements wrong")) &&
    add("race", must_be(25, "wrong", "elements wrong"));

}  // namespace
}  // namespace fusebench::residual_epilogue
#endif
