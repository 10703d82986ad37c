// The formats of tensor cores as the conversion instructions of PTX round to them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace fusebench::emulation {

/// To nearest, ties to even.
inline std::uint16_t bf16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return 0x7FFF;
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
}
inline float float_of_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

/// To nearest, ties to even; subnormals stay.
inline std::uint16_t fp16_of(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return 0x7FFF;
  if (magnitude >= 65520) return static_cast<std::uint16_t>(sign | 0x7C00U);
  const int exponent = magnitude == 0.0 ? -14 : std::max(std::ilogb(magnitude), -14);
  const auto units = static_cast<std::uint32_t>(std::lrint(std::ldexp(magnitude, 10 - exponent)));
  // 1024 of them are the leading one, which the exponent's field counts.
  return static_cast<std::uint16_t>(sign |
                                    (units + (static_cast<std::uint32_t>(exponent + 14) << 10U)));
}
inline float float_of_fp16(std::uint16_t bits) {
  const int exponent = bits >> 10U & 31;
  const int fraction = bits & 1023;
  const float magnitude = exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                          : exponent == 0
                              ? std::ldexp(static_cast<float>(fraction), -24)
                              : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

/// To nearest, ties away from zero.
inline std::uint32_t tf32_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (std::isfinite(value) ? bits + 0x1000U : bits) & 0xFFFFE000U;
}

}  // namespace fusebench::emulation
