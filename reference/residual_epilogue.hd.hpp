// The residual epilogue of one element, y = ((c + b) + c) * c + c, and what its error scales with; for the
// oracles of every operator that ends with it, on host and device.
#pragma once

#include "harness/core/expectation.hd.hpp"

#ifdef __FAST_MATH__
#error "the reference must not be compiled with -ffast-math"
#endif

namespace fusebench {
namespace residual_epilogue {

// Keeps the host's compiler from fusing two steps into an FMA or reordering them: it must believe that
// the value may change here. -ffp-contract=off says the same, but a user's flags can override it. The
// device's is told --fmad=false by us alone.
inline float rounded(float value) noexcept {
#if defined(__CUDACC_RTC__)
  return value;
#elif defined(__x86_64__)
  asm("" : "+x"(value));
  return value;
#elif defined(__aarch64__)
  asm("" : "+w"(value));
  return value;
#else
  volatile float kept = value;
  return kept;
#endif
}

/// float32, exact reference order: four operations, each rounded, never contracted whatever flags
/// this file is compiled with.
[[nodiscard]] inline float exact_order(float c, float b) noexcept {
  const float biased = rounded(c + b);
  const float doubled = rounded(biased + c);
  const float scaled = rounded(doubled * c);
  return rounded(scaled + c);
}

/// The float64 oracle.
[[nodiscard]] constexpr double oracle_value(double c, double b) noexcept {
  return ((c + b) + c) * c + c;
}

/// G = |c| (2|c| + |b| + 1), what the forward error bound scales with: to first order the exact
/// order's worst error is 4 u G with u = 2^-24, since each of its four roundings is of a term that
/// is at most G.
[[nodiscard]] constexpr double magnitude(double c, double b) noexcept {
  const double size = c < 0.0 ? -c : c;
  return size * (2.0 * size + (b < 0.0 ? -b : b) + 1.0);
}

[[nodiscard]] inline Expectation expectation(float c, float b) noexcept {
  return {exact_order(c, b), oracle_value(c, b), magnitude(c, b), c != c || b != b};
}

}  // namespace residual_epilogue

}  // namespace fusebench
