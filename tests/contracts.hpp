// What holding an operand in each contract's format makes of it, for simulations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

#include "harness/core/outcome.hpp"

namespace fusebench::test {

// To nearest, ties to even, in a format of `bits` bits of fraction, exponents from `least` on and
// subnormals below.
inline double rounded(double value, int bits, int least) {
  if (value == 0.0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), least);
  const double unit = std::ldexp(1.0, exponent - bits);
  return std::nearbyint(value / unit) * unit;
}
inline float fp16(float x) { return static_cast<float>(rounded(x, 10, -14)); }
inline float bf16(float x) { return static_cast<float>(rounded(x, 7, -126)); }
// As the tensor cores read it: the low bits are dropped.
inline float tf32(float x) {
  std::uint32_t word = 0;
  std::memcpy(&word, &x, sizeof word);
  word &= ~0x1FFFU;
  std::memcpy(&x, &word, sizeof word);
  return x;
}
inline float two_bf16(float x) {
  const float high = bf16(x);
  return high + bf16(x - high);
}

struct Contract {
  Precision precision;
  std::function<float(float)> hold;
};
inline const Contract contracts[] = {{Precision::float32, [](float x) { return x; }},
                                     {Precision::bf16x3, two_bf16},
                                     {Precision::tf32, tf32},
                                     {Precision::fp16, fp16},
                                     {Precision::bf16, bf16}};

}  // namespace fusebench::test
