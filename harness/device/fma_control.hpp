// What control fma computes, on every device.
#pragma once

#include <cstdint>

namespace fusebench {

/// Fused multiply-adds for each float: 128 FLOP a byte read or written. An H200 waits for memory below 14,
/// processors below 30, the boards of games below 90.
inline constexpr std::int64_t fma_steps = 512;

/// What a float is multiplied by in turn and what is added, so that after an even number of steps it is itself
/// again. No kernel may know them when it is compiled, or it would do nothing: they are arguments.
struct FmaOperands {
  float up = 2.0F;
  float down = 0.5F;
  float nothing = -0.0F;  ///< x + -0 is x, for 0 and -0 too
};

}  // namespace fusebench
