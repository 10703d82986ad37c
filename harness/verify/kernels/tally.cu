// Judges a whole output where it lies: every element against the operator's oracle, by the rules that the
// host applies. ORACLE names the operator's header, which defines expect().
#include "harness/verify/tally.hd.hpp"
#include ORACLE

using namespace fusebench;
typedef unsigned int u32;
typedef unsigned long long u64;

constexpr u32 threads = 256;

// One partial tally a block; the host merges them.
extern "C" __global__ void __launch_bounds__(threads)
    tally(const float* got, u64 count, OracleArguments arguments, AcceptanceRule rule,
          u64 poison_seed, Tally* partial) {
  Tally mine;
  const u64 step = gridDim.x * u64(2 * threads);
  for (u64 first = blockIdx.x * u64(2 * threads) + 2 * threadIdx.x; first < count; first += step) {
    // Two neighbours one after the other: in the oracle of a convolution of stride 2 they take different
    // ways, and so a warp takes the same.
    for (u64 i = first; i < count && i < first + 2; ++i) {
      // The output was written by another process: not through a cache that may be stale.
      const float value = __ldcg(got + i);
      (void)count_element(mine, i, value, expect(arguments, i), rule, poison_seed);
    }
  }
  __shared__ Tally all[threads];
  all[threadIdx.x] = mine;
  for (u32 half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) merge(all[threadIdx.x], all[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = all[0];
}
