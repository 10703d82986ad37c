// The counter-based generator of all inputs: value i of stream s depends on nothing but s and i, so
// the CPU, the GPU and a Python one-liner make the same tensor in any order.
//
// A .hd.hpp compiles for host and device: the run-time compiler gets this very text, so the two cannot
// drift apart. It includes nothing but its like.
#pragma once

namespace fusebench {

/// splitmix64's finaliser (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
[[nodiscard]] constexpr unsigned long long mix(unsigned long long z) noexcept {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

/// 64 random bits at position `index` of `stream`.
[[nodiscard]] constexpr unsigned long long random_bits(unsigned long long stream,
                                                       unsigned long long index) noexcept {
  return mix(stream * 0xD1B54A32D192ED03U + index + 0x9E3779B97F4A7C15U);
}

/// Uniform in [0, 1): the top 24 bits times 2^-24, exact in float32.
[[nodiscard]] constexpr float uniform(unsigned long long stream,
                                      unsigned long long index) noexcept {
  // By way of int, from which vectors convert.
  return static_cast<float>(static_cast<int>(random_bits(stream, index) >> 40U)) * 0x1p-24F;
}

/// What an input is drawn from, before scale, offset and factor.
enum class Draw : int {
  uniform,    ///< [0, 1)
  normal,     ///< mean 0, deviation 1: twelve 16-bit uniforms summed (Irwin-Hall), exact in float32
  integer,    ///< -2, -1, 0, 1 or 2
  near_one,   ///< 1 + k 2^-12, k below 4096: two bits more than TF32 holds
  constant,   ///< 1
  subnormal,  ///< any subnormal or zero, either sign
  wide,       ///< either sign, magnitudes log-uniform in [2^-30, 4)
  banded,     ///< either sign, in [1, 2) times a power of two that 64 in a row share, 2^-90 to 1
  special,    ///< one of the special_value()s
};

/// An input's value i is fl(fl(fl(scale * draw_i) + offset) * factor), draw_i from stream
/// 10 * seed + stream. Where `sprinkled`, `sprinkle` stands in the first, the last and about one of a
/// thousand places instead.
struct InputRecipe {
  unsigned long long stream = 0;
  float scale = 1.0F;
  float offset = 0.0F;
  float factor = 1.0F;
  Draw draw = Draw::uniform;
  bool sprinkled = false;
  float sprinkle = 0.0F;
};

/// The stream of an input under a seed: 10 * seed + recipe.stream, modulo 2^64.
[[nodiscard]] constexpr unsigned long long stream_of(unsigned long long seed,
                                                     const InputRecipe& recipe) noexcept {
  return 10U * seed + recipe.stream;
}

inline constexpr unsigned special_values = 24;

/// Zeros, ones and their neighbours, the ends of the subnormals and of the normals, values whose square
/// overflows or vanishes, infinities, a NaN. `which` is below special_values.
[[nodiscard]] constexpr float special_value(unsigned which) noexcept {
  switch (which) {
    case 0: return 0.0F;
    case 1: return -0.0F;
    case 2: return 1.0F;
    case 3: return -1.0F;
    case 4: return 2.0F;
    case 5: return -0.5F;
    case 6: return 0x1p-149F;
    case 7: return -0x1p-149F;
    case 8: return 0x1.fffffcp-127F;
    case 9: return -0x1.fffffcp-127F;
    case 10: return 0x1p-126F;
    case 11: return -0x1p-126F;
    case 12: return 0x1.fffffep+127F;
    case 13: return -0x1.fffffep+127F;
    case 14: return 0x1p64F;
    case 15: return -0x1p64F;
    case 16: return 0x1p-75F;
    case 17: return -0x1p-75F;
    case 18: return 0x1.000002p+0F;
    case 19: return 0x1.fffffep-1F;
    case 20: return -0x1.8p+0F;
    case 21: return __builtin_bit_cast(float, 0x7F800000U);
    case 22: return __builtin_bit_cast(float, 0xFF800000U);
    default: return __builtin_bit_cast(float, 0x7FC00001U);
  }
}

[[nodiscard]] constexpr float normal(unsigned long long stream, unsigned long long index) noexcept {
  unsigned sum = 0;
  for (unsigned word = 0; word < 3; ++word) {
    const unsigned long long bits = random_bits(stream, 3 * index + word);
    sum += static_cast<unsigned>(bits & 0xFFFFU) + static_cast<unsigned>(bits >> 16U & 0xFFFFU) +
           static_cast<unsigned>(bits >> 32U & 0xFFFFU) + static_cast<unsigned>(bits >> 48U);
  }
  return static_cast<float>(2 * static_cast<int>(sum) - 12 * 65535) * 0x1p-17F;
}

/// Fraction and sign of `bits`, times 2^exponent, which makes a normal.
[[nodiscard]] constexpr float with_exponent(unsigned bits, int exponent) noexcept {
  return __builtin_bit_cast(float, (bits & 0x807FFFFFU) | static_cast<unsigned>(exponent + 127)
                                                              << 23U);
}

[[nodiscard]] constexpr float drawn(Draw draw, unsigned long long stream,
                                    unsigned long long index) noexcept {
  if (draw == Draw::uniform) return uniform(stream, index);
  if (draw == Draw::normal) return normal(stream, index);
  if (draw == Draw::constant) return 1.0F;
  const unsigned long long bits = random_bits(stream, index);
  const auto top = static_cast<unsigned>(bits >> 32U);
  switch (draw) {
    case Draw::integer: return static_cast<float>(static_cast<int>(top % 5U) - 2);
    case Draw::near_one: return 1.0F + static_cast<float>(top % 4096U) * 0x1p-12F;
    case Draw::wide: return with_exponent(top, static_cast<int>(bits % 32U) - 30);
    case Draw::banded: {
      const unsigned long long of_band = random_bits(~stream, index / 64U);
      return with_exponent(top, -static_cast<int>((of_band >> 32U) % 91U));
    }
    case Draw::subnormal: return __builtin_bit_cast(float, top & 0x807FFFFFU);
    default: return special_value(top % special_values);
  }
}

/// Does the sprinkled value stand at `index` of `count`?
[[nodiscard]] constexpr bool is_sprinkled(unsigned long long stream, unsigned long long index,
                                          unsigned long long count) noexcept {
  return index == 0 || index + 1 == count || mix(stream + 0x5851F42D4C957F2DU * index) % 1021U == 0;
}

/// Element `index` of an input tensor of `count` elements.
[[nodiscard]] constexpr float input_value(const InputRecipe& recipe, unsigned long long stream,
                                          unsigned long long index,
                                          unsigned long long count) noexcept {
  if (recipe.sprinkled && is_sprinkled(stream, index, count)) return recipe.sprinkle;
  const float scaled = recipe.scale * drawn(recipe.draw, stream, index);
  const float sum = scaled + recipe.offset;
  return sum * recipe.factor;
}

/// Is every value of a recipe finite? False may also mean that it is not obvious.
[[nodiscard]] constexpr bool surely_finite(const InputRecipe& recipe) noexcept {
  const auto size = [](float value) { return value < 0.0F ? -value : value; };
  if (recipe.sprinkled && !(recipe.sprinkle - recipe.sprinkle == 0.0F)) return false;
  // No draw but a special one is beyond 6.
  return recipe.draw != Draw::special &&
         (size(recipe.scale) * 8.0F + size(recipe.offset)) * size(recipe.factor) < 0x1p126F;
}

/// A quiet NaN whose payload depends on (seed, index): what outputs hold before a call. 20 bits are
/// random; the two above them keep it apart from the NaNs that processors make and that inputs hold.
[[nodiscard]] constexpr unsigned poison_bits(unsigned long long seed,
                                             unsigned long long index) noexcept {
  return 0x7FD00000U | static_cast<unsigned>(random_bits(seed, index) >> 44U);
}

/// One word's share of a buffer's fingerprint; the fingerprint is the sum over all 32-bit words
/// modulo 2^64, so any order and any number of threads give the same value.
[[nodiscard]] constexpr unsigned long long fingerprint_term(unsigned long long index,
                                                            unsigned word) noexcept {
  return mix(index * 0xD1B54A32D192ED03U + word + 0x9E3779B97F4A7C15U);
}

}  // namespace fusebench
