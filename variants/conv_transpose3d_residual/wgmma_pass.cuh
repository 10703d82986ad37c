// A launch's part of the input channels. The weights of 32 of them fill shared memory; where there are more, each of several
// launches multiplies 32 and leaves in y the sums so far. What it does with y is known when it is compiled, since
// registers are full. PASS: 0 the only launch, 1 the first of several, 2 one between, 3 the last.
#pragma once

#include "variants/conv_transpose3d_residual/convolution.cuh"

#if PASS == 0
#define FUSEBENCH_KERNEL(name) name
#elif PASS == 1
#define FUSEBENCH_KERNEL(name) name##_first
#elif PASS == 2
#define FUSEBENCH_KERNEL(name) name##_middle
#else
#define FUSEBENCH_KERNEL(name) name##_last
#endif

constexpr bool one_of_several = PASS != 0;
constexpr bool adds_to_y =
    PASS == 2 || PASS == 3;  // else sums start from the convolution's own bias
constexpr bool finishes_y = PASS == 0 || PASS == 3;

// Of the pass; x and w begin at its first one. The host has put it where the definition's loop looks for its end.
__device__ inline u32 channels_of_pass(const Convolution& s) {
  return one_of_several ? s.in_of_group : s.in_channels;
}
