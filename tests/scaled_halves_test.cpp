// The numbers of wgmma_scaled_halves.cuh: a float32 as two fp16 under a power of two shared with others.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/contracts.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

struct Held {
  double high, low;  // low in units of 2^-11
  [[nodiscard]] double value() const { return high + std::ldexp(low, -11); }
};

Held hold(double scaled) {
  const double high = test::rounded(scaled, 10, -14);
  return {high, test::rounded(std::ldexp(scaled - high, 11), 10, -14)};
}

// A float in [2^exponent, 2^(exponent + 1)).
float between_powers(std::mt19937_64& random, int exponent) {
  const auto fraction = static_cast<double>(random() % (1U << 23)) / (1U << 23);
  return static_cast<float>(std::ldexp(1.0 + fraction, exponent));
}

constexpr double largest_half = 65504;

TEST(ScaledHalves, HoldWhatIsFromTwoToTheMinus14To65504Within22Bits) {
  std::mt19937_64 random(test::seed());
  for (int exponent = -14; exponent <= 15; ++exponent) {
    for (int i = 0; i < 20000; ++i) {
      const double scaled = between_powers(random, exponent);
      if (scaled >= largest_half) continue;
      const Held both = hold(scaled);
      ASSERT_LE(std::max(std::abs(both.high), std::abs(both.low)), largest_half) << scaled;
      ASSERT_LE(std::abs(both.value() - scaled), std::ldexp(scaled, -22)) << scaled;
    }
  }
}

TEST(ScaledHalves, HoldLessOfWhatIsSmaller) {
  std::mt19937_64 random(test::seed());
  int worse = 0;
  for (int i = 0; i < 1000; ++i) {
    const double scaled = between_powers(random, -18);
    worse += std::abs(hold(scaled).value() - scaled) > std::ldexp(scaled, -22);
  }
  EXPECT_GT(worse, 100);
}

// 12u of the 32u that float32's contract allows of each product; the others are for the sum.
TEST(ScaledHalves, ThreeProductsAreWithinFloat32sContract) {
  std::mt19937_64 random(test::seed());
  double largest = 0;
  for (int i = 0; i < 300000; ++i) {
    const double x = between_powers(random, static_cast<int>(random() % 30) - 14);
    if (x >= largest_half) continue;
    const double w = between_powers(random, static_cast<int>(random() % 29) - 14);
    const Held a = hold(x);
    const Held b = hold(w);
    const double sum = a.high * b.high + std::ldexp(a.high * b.low + a.low * b.high, -11);
    largest = std::max(largest, std::abs(sum - x * w) / (x * w));
  }
  EXPECT_LE(largest, 3 * std::ldexp(1.0, -22));
  EXPECT_GT(largest, std::ldexp(1.0, -23));
}

}  // namespace
}  // namespace fusebench
