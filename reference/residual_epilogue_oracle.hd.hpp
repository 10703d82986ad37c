// What an element of residual_epilogue should be, for the host's oracle and for the device's.
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

#ifdef __CUDACC_RTC__
// The device's oracle: sizes n, c, d, h, w; inputs c and b.
inline Expectation expect(const OracleArguments& arguments, unsigned long long index) {
  const unsigned long long spatial = arguments.sizes[2] * arguments.sizes[3] * arguments.sizes[4];
  unsigned long long channel = 0;
  if (index >> 32U == 0 && spatial >> 32U == 0 && arguments.sizes[1] >> 32U == 0) {
    // 64-bit division takes several times as long.
    channel = static_cast<unsigned>(index) / static_cast<unsigned>(spatial) %
              static_cast<unsigned>(arguments.sizes[1]);
  } else {
    channel = index / spatial % arguments.sizes[1];
  }
  return residual_epilogue::expectation(arguments.inputs[0].at(index),
                                        arguments.inputs[1].at(channel));
}
#endif

}  // namespace fusebench
