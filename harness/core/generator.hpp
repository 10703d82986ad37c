// The counter-based generator of all inputs: value i of stream s depends on nothing but s and i, so
// the CPU, the GPU (kernels/memory.cu) and a Python one-liner make the same tensor in any order.
#pragma once

#include <cstdint>

#include "harness/core/tensor.hpp"

namespace fusebench {

/// splitmix64's finaliser (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

/// 64 random bits at position `index` of `stream`.
[[nodiscard]] constexpr std::uint64_t random_bits(std::uint64_t stream,
                                                  std::uint64_t index) noexcept {
  return mix(stream * 0xD1B54A32D192ED03U + index + 0x9E3779B97F4A7C15U);
}

/// Uniform in [0, 1): the top 24 bits times 2^-24, exact in float32.
[[nodiscard]] constexpr float uniform(std::uint64_t stream, std::uint64_t index) noexcept {
  return static_cast<float>(random_bits(stream, index) >> 40U) * 0x1p-24F;
}

/// The stream of an input under a run's seed: 10 * seed + recipe.stream, modulo 2^64.
[[nodiscard]] constexpr std::uint64_t stream_of(std::uint64_t seed,
                                                const InputRecipe& recipe) noexcept {
  return 10U * seed + recipe.stream;
}

/// Element `index` of an input tensor.
[[nodiscard]] constexpr float input_value(const InputRecipe& recipe, std::uint64_t stream,
                                          std::uint64_t index) noexcept {
  const float sum = recipe.scale * uniform(stream, index) + recipe.offset;
  return sum * recipe.factor;
}

/// A quiet NaN whose 22 payload bits depend on (seed, index): what outputs hold before a call.
[[nodiscard]] constexpr std::uint32_t poison_bits(std::uint64_t seed,
                                                  std::uint64_t index) noexcept {
  const auto payload = static_cast<std::uint32_t>(random_bits(seed, index) >> 42U);
  return 0x7FC00000U | (payload == 0 ? 1U : payload);
}

/// One word's share of a buffer's fingerprint; the fingerprint is the sum over all 32-bit words
/// modulo 2^64, so any order and any number of threads give the same value.
[[nodiscard]] constexpr std::uint64_t fingerprint_term(std::uint64_t index,
                                                       std::uint32_t word) noexcept {
  return mix(index * 0xD1B54A32D192ED03U + word + 0x9E3779B97F4A7C15U);
}

}  // namespace fusebench
