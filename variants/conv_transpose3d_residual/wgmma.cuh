// Hopper's instructions for asynchronous tensor-core work, behind small names: barriers that count arrivals
// and bytes, named barriers, bulk copies, wgmma. For sm_90a.
#pragma once

#include "variants/conv_transpose3d_residual/convolution.cuh"
#include "variants/conv_transpose3d_residual/tensor_core.cuh"
#include "variants/conv_transpose3d_residual/wgmma_matrices.cuh"

// ---- threadIdx.x and blockIdx.x, asked for here: what derives from them would else be kept from the kernel's start, in
// registers that there are not.

__device__ inline u32 thread_now() {
  u32 thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}
__device__ inline u32 block_now() {
  u32 block;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  return block;
}

// ---- Named barriers, at which some of a block's threads meet, whole warps. `id` is from 1 to 15.

template <u32 THREADS>
__device__ inline void named_barrier_sync(u32 id) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(THREADS) : "memory");
}
// Whether it is so for any of them.
template <u32 THREADS>
__device__ inline bool named_barrier_or(u32 id, bool here) {
  u32 any;
  asm volatile("{ .reg .pred p, q;\n setp.ne.u32 p, %1, 0;\n"
               "barrier.cta.red.or.pred q, %2, %3, p;\n selp.u32 %0, 1, 0, q; }"
               : "=r"(any)
               : "r"(u32(here)), "r"(id), "n"(THREADS)
               : "memory");
  return any != 0;
}
// Some 20 ns, while waiting for another thread.
__device__ inline void sleep_briefly() { asm volatile("nanosleep.u32 20;" ::: "memory"); }

// ---- mbarrier: a phase ends when `arrivals` threads have arrived and all expected bytes have come.

__device__ inline void barrier_init(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
// Makes initialised barriers visible to the asynchronous proxy; __syncthreads() must follow.
__device__ inline void barrier_init_done() {
  asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;" ::: "memory");
}
__device__ inline void barrier_arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void barrier_arrive_expecting(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
// Waits for the end of the phase of this parity; the first phase has parity 0.
__device__ inline void barrier_wait(u32 barrier, u32 parity) {
  u32 done = 0;
  while (!done) {
    asm volatile("{ .reg .pred p;\n"
                 "  mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "  selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
  }
}

// ---- Copies from global to shared memory. Addresses and sizes are multiples of 16.

__device__ inline void bulk_copy(u32 to, const void* from, u32 bytes, u32 barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}
// In the order in which they are written down, so that many can be on their way.
__device__ inline float4 load_shared(u32 from) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(from)
               : "memory");
  return v;
}
__device__ inline void store_shared(u32 to, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}
__device__ inline void store_shared(u32 to, u32 a) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(a) : "memory");
}
// What a thread wrote to shared memory, the tensor cores will see. Each writing thread, before its barrier.
__device__ inline void publish_to_tensor_cores() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// ---- Programmatic dependent launch: the next kernel may start; wait until the one before is done.

__device__ inline void let_next_kernel_start() {
  asm volatile("griddepcontrol.launch_dependents;");
}
__device__ inline void wait_for_kernel_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

// ---- Registers move from warpgroups that need few to those that need many.

template <u32 COUNT>
__device__ inline void release_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}
template <u32 COUNT>
__device__ inline void claim_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

// ---- wgmma: D[64 x 128] (+)= A[64 x 16] B[16 x 128], by the four warps of a warpgroup.
// Warp v of it holds rows 16v to 16v + 15; element D[r][8j + c] is in register 4j + 2 (r / 8 % 2) + c % 2 of
// lane 4 (r % 8) + c / 2.

__device__ inline void wgmma_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// Makes the products since the last time a group.
__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Waits until only the newest so many groups still go on.
template <u32 NEWEST>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(NEWEST) : "memory");
}
__device__ inline void wgmma_end() {
  wgmma_commit();
  wgmma_wait<0>();
}
// After a wait: the compiler must not have moved reads of the accumulators before it.
template <u32 COUNT>
__device__ inline void wgmma_results(float (&d)[COUNT]) {
#pragma unroll
  for (u32 i = 0; i < COUNT; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

#define FUSEBENCH_D4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define FUSEBENCH_D16(d, i) \
  FUSEBENCH_D4(d, i), FUSEBENCH_D4(d, i + 4), FUSEBENCH_D4(d, i + 8), FUSEBENCH_D4(d, i + 12)
// A row-major (K contiguous), B with N contiguous. `TYPE` is bf16 or f16.
#define FUSEBENCH_WGMMA(TYPE)                                                                     \
  asm volatile(                                                                                   \
      "{ .reg .pred p;\n setp.ne.b32 p, %66, 0;\n"                                                \
      "wgmma.mma_async.sync.aligned.m64n128k16.f32." TYPE "." TYPE                                \
      " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,"  \
      "%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,"  \
      "%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, p, 1," \
      " 1, 0, 1; }"                                                                               \
      : FUSEBENCH_D16(d, 0), FUSEBENCH_D16(d, 16), FUSEBENCH_D16(d, 32), FUSEBENCH_D16(d, 48)     \
      : "l"(a), "l"(b), "r"(add))

__device__ inline void wgmma_bf16(float (&d)[64], u64 a, u64 b, u32 add) {
  FUSEBENCH_WGMMA("bf16");
}
__device__ inline void wgmma_f16(float (&d)[64], u64 a, u64 b, u32 add) { FUSEBENCH_WGMMA("f16"); }

// D[64 x 128] (+)= A[64 x 8] B[8 x 128], both with K contiguous.
__device__ inline void wgmma_tf32(float (&d)[64], u64 a, u64 b, u32 add) {
  asm volatile(
      "{ .reg .pred p;\n setp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32"
      " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,"
      "%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,"
      "%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, p, 1,"
      " 1; }"
      : FUSEBENCH_D16(d, 0), FUSEBENCH_D16(d, 16), FUSEBENCH_D16(d, 32), FUSEBENCH_D16(d, 48)
      : "l"(a), "l"(b), "r"(add));
}
