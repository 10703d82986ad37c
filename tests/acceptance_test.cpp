// When is one element right? Catches the comparisons that accept a NaN, take Inf for a wildcard, divide by
// a signed reference, add the wrong tolerances, or ignore the tolerance altogether.
#include "harness/verify/acceptance.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace fusebench {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr Precision with_bounds[] = {Precision::float32, Precision::bf16x3, Precision::tf32,
                                     Precision::fp16, Precision::bf16};
constexpr ErrorBound wide = {1e30, 1e30};

bool accepted(Precision precision, const ErrorBound& bound, const Expectation& expected,
              float got) {
  return fusebench::accepted(rule_of(precision, bound), expected, got);
}

// A finite element whose oracle agrees with the exact order.
Expectation finite(float value, double magnitude = 1.0) { return {value, value, magnitude, false}; }

// A step of the exact order left the finite numbers; the oracle, in float64, is at `value`.
Expectation overflowed(float exact, double value) { return {exact, value, 1.0, false}; }

TEST(BitEqual, DistinguishesZerosAndNeighboursButNoNans) {
  EXPECT_TRUE(bit_equal(1.5F, 1.5F));
  EXPECT_FALSE(bit_equal(0.0F, -0.0F));
  EXPECT_FALSE(bit_equal(1.5F, std::nextafter(1.5F, 2.0F)));
  EXPECT_TRUE(bit_equal(nan, std::bit_cast<float>(0xFFC12345U)));
  EXPECT_FALSE(bit_equal(nan, inf));
  EXPECT_FALSE(bit_equal(inf, -inf));
}

TEST(Acceptance, ANanIsWrongWhateverTheTolerance) {
  for (const Precision precision : with_bounds) {
    EXPECT_FALSE(accepted(precision, wide, finite(1.0F), nan)) << to_string(precision);
    EXPECT_FALSE(accepted(precision, {inf, inf}, finite(1.0F), nan)) << to_string(precision);
  }
  EXPECT_FALSE(accepted(Precision::exact_order, wide, finite(1.0F), nan));
  EXPECT_FALSE(within_headline(finite(1.0F), nan));
}

TEST(Acceptance, AnInfinityIsWrongWhereAFiniteValueWasExpected) {
  for (const float got : {inf, -inf}) {
    for (const Precision precision : with_bounds) {
      EXPECT_FALSE(accepted(precision, wide, finite(1.0F), got)) << to_string(precision);
      EXPECT_FALSE(accepted(precision, {inf, inf}, finite(1.0F), got)) << to_string(precision);
    }
    EXPECT_FALSE(accepted(Precision::exact_order, wide, finite(1.0F), got));
    EXPECT_FALSE(within_headline(finite(1.0F), got));
  }
}

TEST(Acceptance, ANanThatEntersMustLeaveAndIsNoWildcard) {
  const Expectation expected = {nan, nan, nan, true};
  for (const Precision precision : with_bounds) {
    EXPECT_TRUE(accepted(precision, wide, expected, nan)) << to_string(precision);
    for (const float got : {0.0F, 1.0F, inf, -inf}) {
      EXPECT_FALSE(accepted(precision, wide, expected, got)) << to_string(precision) << got;
    }
  }
}

TEST(ExactOrder, WhereNanIsExpectedOnlyANanWillDo) {
  const Expectation expected = overflowed(nan, nan);
  EXPECT_TRUE(accepted(Precision::exact_order, wide, expected, -nan));
  for (const float got : {0.0F, 1.0F, inf, -inf}) {
    EXPECT_FALSE(accepted(Precision::exact_order, wide, expected, got)) << got;
    EXPECT_FALSE(within_headline(expected, got)) << got;
  }
  EXPECT_TRUE(within_headline(expected, nan));
}

TEST(ExactOrder, NeedsTheSameBitsAndTheSignOfZero) {
  EXPECT_TRUE(accepted(Precision::exact_order, {}, finite(0.1F), 0.1F));
  EXPECT_FALSE(accepted(Precision::exact_order, wide, finite(0.1F), std::nextafter(0.1F, 1.0F)));
  EXPECT_FALSE(accepted(Precision::exact_order, wide, finite(0.1F), std::nextafter(0.1F, 0.0F)));
  EXPECT_FALSE(accepted(Precision::exact_order, wide, finite(0.0F), -0.0F));
  EXPECT_TRUE(accepted(Precision::exact_order, {}, finite(-0.0F), -0.0F));
}

TEST(ExactOrder, NeedsTheSameInfinity) {
  EXPECT_TRUE(accepted(Precision::exact_order, {}, overflowed(inf, 1e60), inf));
  for (const float got : {-inf, nan, 3e38F}) {
    EXPECT_FALSE(accepted(Precision::exact_order, wide, overflowed(inf, 1e60), got)) << got;
    EXPECT_FALSE(within_headline(overflowed(inf, 1e60), got)) << got;
  }
  EXPECT_TRUE(within_headline(overflowed(inf, 1e60), inf));
}

TEST(BoundedContracts, TakeAnyNonFiniteValueWhereTheExactOrderLeftTheFiniteOnes) {
  for (const float exact : {inf, -inf, nan}) {
    for (const float got : {inf, -inf, nan}) {
      EXPECT_TRUE(accepted(Precision::float32, {}, overflowed(exact, exact), got)) << exact << got;
    }
  }
}

TEST(BoundedContracts, RefuseAFiniteValueAgainstAnInfiniteOracle) {
  for (const float exact : {inf, -inf, nan}) {
    for (const float got : {0.0F, 1.0F, -3e38F, 3e38F}) {
      EXPECT_FALSE(accepted(Precision::float32, wide, overflowed(exact, exact), got))
          << exact << " " << got;
    }
  }
}

TEST(BoundedContracts, HoldAFiniteValueToTheOracleWhereOverflowCameLater) {
  const Expectation expected = overflowed(inf, 3e38);
  EXPECT_TRUE(accepted(Precision::float32, {0, 1e33}, expected, 3e38F));
  EXPECT_FALSE(accepted(Precision::float32, {0, 1e33}, expected, 2.9e38F));
  EXPECT_FALSE(accepted(Precision::float32, {0, 1e33}, expected, 0.0F));
}

TEST(BoundedContracts, AddTheRelativeAndTheAbsolutePart) {
  // 2^-10 * 4 + 2^-8 = 2^-7: neither part alone reaches that far.
  const Expectation expected = finite(1.0F, 4.0);
  const ErrorBound bound = {0x1p-10, 0x1p-8};
  EXPECT_TRUE(accepted(Precision::float32, bound, expected, 1.0F + 0x1p-7F));
  EXPECT_TRUE(accepted(Precision::float32, bound, expected, 1.0F - 0x1p-7F));
  EXPECT_FALSE(accepted(Precision::float32, bound, expected, 1.0F + 0x1.01p-7F));
  EXPECT_FALSE(accepted(Precision::float32, bound, expected, 1.0F - 0x1.01p-7F));
}

TEST(BoundedContracts, CompareWithTheFloat64OracleNotWithTheExactOrder) {
  const Expectation expected = {1.0F, 1.5, 1.0, false};
  EXPECT_TRUE(accepted(Precision::float32, {0, 0.01}, expected, 1.5F));
  EXPECT_FALSE(accepted(Precision::float32, {0, 0.01}, expected, 1.0F));
}

TEST(BoundedContracts, HoldNegativeReferencesToTheSameBound) {
  for (const float sign : {1.0F, -1.0F}) {
    const Expectation expected = finite(sign * 2.0F);
    EXPECT_TRUE(accepted(Precision::float32, {0.25, 0}, expected, sign * 2.25F));
    EXPECT_TRUE(accepted(Precision::float32, {0.25, 0}, expected, sign * 1.75F));
    EXPECT_FALSE(accepted(Precision::float32, {0.25, 0}, expected, sign * 2.5F));
    EXPECT_FALSE(accepted(Precision::float32, {0.25, 0}, expected, sign * 1.5F));
    EXPECT_FALSE(accepted(Precision::float32, {0.25, 0}, expected, sign * -2.0F));
  }
}

TEST(BoundedContracts, FlagUnderATightBoundWhatAWideOneAccepts) {
  const Expectation expected = finite(1.0F);
  EXPECT_TRUE(accepted(Precision::float32, {1e-2, 0}, expected, 1.001F));
  EXPECT_FALSE(accepted(Precision::float32, {1e-6, 0}, expected, 1.001F));
  EXPECT_TRUE(accepted(Precision::float32, {0, 1e-2}, expected, 1.001F));
  EXPECT_FALSE(accepted(Precision::float32, {0, 1e-6}, expected, 1.001F));
}

TEST(BoundedContracts, ScaleTheRelativePartWithTheMagnitude) {
  EXPECT_TRUE(accepted(Precision::float32, {0.01, 0}, finite(1.0F, 100.0), 1.9F));
  EXPECT_FALSE(accepted(Precision::float32, {0.01, 0}, finite(1.0F, 10.0), 1.9F));
}

TEST(BoundedContracts, TakeTheOtherZeroWithinNoBoundAtAll) {
  EXPECT_TRUE(accepted(Precision::float32, {0, 0}, finite(0.0F), -0.0F));
}

TEST(Headline, AddsTheAbsoluteAndTheRelativePart) {
  // At 1 the sum allows 2e-4; either part alone, or the greater of the two, allows 1e-4.
  EXPECT_TRUE(within_headline(finite(1.0F), 1.00019F));
  EXPECT_TRUE(within_headline(finite(1.0F), 0.99981F));
  EXPECT_FALSE(within_headline(finite(1.0F), 1.00021F));
  EXPECT_FALSE(within_headline(finite(1.0F), 0.99979F));
}

TEST(Headline, IsAbsoluteNearZeroAndRelativeForLargeValues) {
  EXPECT_TRUE(within_headline(finite(0.0F), 0.99e-4F));
  EXPECT_FALSE(within_headline(finite(0.0F), 1.01e-4F));
  EXPECT_TRUE(within_headline(finite(1e6F), 1e6F + 99.0F));
  EXPECT_FALSE(within_headline(finite(1e6F), 1e6F + 101.0F));
}

TEST(Headline, HoldsNegativeReferencesToTheSameBound) {
  EXPECT_TRUE(within_headline(finite(-1.0F), -1.00019F));
  EXPECT_FALSE(within_headline(finite(-1.0F), -1.00021F));
  EXPECT_FALSE(within_headline(finite(-1.0F), -0.99979F));
  EXPECT_FALSE(within_headline(finite(-1.0F), 1.0F));
}

TEST(Headline, ComparesWithTheExactOrderNotWithTheOracle) {
  const Expectation expected = {1.0F, 1.5, 1.0, false};
  EXPECT_TRUE(within_headline(expected, 1.0F));
  EXPECT_FALSE(within_headline(expected, 1.5F));
}

}  // namespace
}  // namespace fusebench
