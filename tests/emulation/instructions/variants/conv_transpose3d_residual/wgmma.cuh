// What Hopper's instructions do, on the host, in the place of the header that has them.
#pragma once

#include "tests/emulation/copies.hpp"
#include "tests/emulation/products.hpp"
#include "variants/conv_transpose3d_residual/convolution.cuh"
#include "variants/conv_transpose3d_residual/tensor_core.cuh"
#include "variants/conv_transpose3d_residual/wgmma_matrices.cuh"

inline fusebench::emulation::HostBlock& block() {
  return fusebench::emulation::HostBlock::current();
}

inline u32 thread_now() { return threadIdx.x; }
inline u32 block_now() { return blockIdx.x; }

template <u32 THREADS>
bool named_barrier_or(u32 id, bool here) {
  return block().named_barrier(id, THREADS, here);
}
template <u32 THREADS>
void named_barrier_sync(u32 id) {
  (void)named_barrier_or<THREADS>(id, false);
}
inline void sleep_briefly() { block().sleep(); }

inline void barrier_init(u32 barrier, u32 arrivals) { block().barrier_init(barrier, arrivals); }
inline void barrier_init_done() {}
inline void barrier_arrive(u32 barrier) { block().barrier_arrive(barrier); }
inline void barrier_arrive_expecting(u32 barrier, u32 bytes) {
  block().barrier_arrive(barrier, bytes);
}
inline void barrier_wait(u32 barrier, u32 parity) { block().barrier_wait(barrier, parity); }

inline void bulk_copy(u32 to, const void* from, u32 bytes, u32 barrier) {
  fusebench::emulation::copy_bulk(to, from, bytes, barrier);
}
inline float4 load_shared(u32 from) {
  float4 v;
  block().require_arrived(from);
  std::memcpy(&v, fusebench_shared_memory + from, sizeof v);
  block().dawdle();
  return v;
}
inline void store_shared(u32 to, u32 a) {
  std::memcpy(fusebench_shared_memory + to, &a, sizeof a);
  block().wrote(to, sizeof a);
}
inline void store_shared(u32 to, u32 a, u32 b, u32 c, u32 d) {
  const u32 words[] = {a, b, c, d};
  std::memcpy(fusebench_shared_memory + to, words, sizeof words);
  block().wrote(to, sizeof words);
}
inline void publish_to_tensor_cores() { block().publish(); }

inline void let_next_kernel_start() {}
inline void wait_for_kernel_before() {}

template <u32 COUNT>
void release_registers() {}
template <u32 COUNT>
void claim_registers() {}

inline void wgmma_begin() {}
inline void wgmma_commit() { fusebench::emulation::commit_products(); }
template <u32 NEWEST>
void wgmma_wait() {
  fusebench::emulation::wait_for_products(NEWEST);
}
inline void wgmma_end() {
  wgmma_commit();
  wgmma_wait<0>();
}
template <u32 COUNT>
void wgmma_results(float (&)[COUNT]) {}

inline void wgmma_bf16(float (&d)[64], u64 a, u64 b, u32 add) {
  fusebench::emulation::begin_product(fusebench::emulation::Operand::bf16, d, a, b, add != 0);
}
inline void wgmma_f16(float (&d)[64], u64 a, u64 b, u32 add) {
  fusebench::emulation::begin_product(fusebench::emulation::Operand::fp16, d, a, b, add != 0);
}
inline void wgmma_tf32(float (&d)[64], u64 a, u64 b, u32 add) {
  fusebench::emulation::begin_product(fusebench::emulation::Operand::tf32, d, a, b, add != 0);
}
