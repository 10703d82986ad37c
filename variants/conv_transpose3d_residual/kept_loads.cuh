// Loads of x, which stays in L2 while y passes through it (KEEP_X). Where `exists`, else zeros; no branch, so that
// many can be on their way. And prefetches of it.
#pragma once

#include "variants/conv_transpose3d_residual/convolution.cuh"

#if KEEP_X
#define FUSEBENCH_KEPT ".L2::cache_hint"
#define FUSEBENCH_POLICY(N) ", %" #N
#else
#define FUSEBENCH_KEPT ""
#define FUSEBENCH_POLICY(N) ""
#endif

__device__ inline u64 keep_policy() {
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy));
  return policy;
}
// To L2, to stay there as well: the line of 128 bytes, or a multiple of 16 bytes at one of 16.
__device__ inline void fetch_line(const void* from) {
#if KEEP_X
  asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(from));
#else
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
#endif
}
// To L2, to be read once.
__device__ inline void fetch_line_once(const void* from) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}
__device__ inline void fetch_bytes(const void* from, u32 bytes) {
#if KEEP_X
  asm volatile("cp.async.bulk.prefetch.L2.global.L2::cache_hint [%0], %1, %2;" ::"l"(from),
               "r"(bytes), "l"(keep_policy()));
#else
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes));
#endif
}
__device__ inline float load_kept(const float* from, bool exists, u64 policy) {
  float v = 0.0f;
  asm volatile("{ .reg .pred p;\n setp.ne.u32 p, %2, 0;\n"
               "@p ld.global.nc" FUSEBENCH_KEPT ".f32 %0, [%1]" FUSEBENCH_POLICY(3) "; }"
               : "+f"(v)
               : "l"(from), "r"(u32(exists)), "l"(policy));
  return v;
}
__device__ inline float2 load_kept(const float2* from, bool exists, u64 policy) {
  float2 v = make_float2(0.0f, 0.0f);
  asm volatile("{ .reg .pred p;\n setp.ne.u32 p, %3, 0;\n"
               "@p ld.global.nc" FUSEBENCH_KEPT ".v2.f32 {%0, %1}, [%2]" FUSEBENCH_POLICY(4) "; }"
               : "+f"(v.x), "+f"(v.y)
               : "l"(from), "r"(u32(exists)), "l"(policy));
  return v;
}
__device__ inline float4 load_kept(const float4* from, bool exists, u64 policy) {
  float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  asm volatile("{ .reg .pred p;\n setp.ne.u32 p, %5, 0;\n"
               "@p ld.global.nc.L1::no_allocate" FUSEBENCH_KEPT
               ".v4.f32 {%0, %1, %2, %3}, [%4]" FUSEBENCH_POLICY(6) "; }"
               : "+f"(v.x), "+f"(v.y), "+f"(v.z), "+f"(v.w)
               : "l"(from), "r"(u32(exists)), "l"(policy));
  return v;
}
