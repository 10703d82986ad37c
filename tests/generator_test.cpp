// The generator of inputs and poison against values that Python computed from the formula. Catches a wrong
// constant, shift or rounding, an index cut to 32 bits, and poison that a kernel could have written.
#include "harness/core/generator.hd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "tests/seed.hpp"

namespace fusebench {
namespace {

struct Known {
  std::uint64_t stream;
  std::uint64_t index;
  std::uint64_t bits;
  float uniform;
};

// python3 -c "M=2**64-1
// def m(z): z=(z^z>>30)*0xBF58476D1CE4E5B9&M; z=(z^z>>27)*0x94D049BB133111EB&M; return z^z>>31
// for s,i in (0,0),(1,0),(1,1),(2,0),(4,63),(424,12345),(31,2**31),(31,2**32+5),(7,2**40),(M,M):
//  b=m(s*0xD1B54A32D192ED03+i+0x9E3779B97F4A7C15&M); print('{%dU, %dU, 0x%XU, 0x%Xp-24F},'%(s,i,b,b>>40))"
constexpr Known known[] = {
    {0U, 0U, 0xE220A8397B1DCDAFU, 0xE220A8p-24F},
    {1U, 0U, 0x2D0F28C7E7E786B2U, 0x2D0F28p-24F},
    {1U, 1U, 0x6078BF180FF8632FU, 0x6078BFp-24F},
    {2U, 0U, 0x3C5B66874B9E8A84U, 0x3C5B66p-24F},
    {4U, 63U, 0xED1932AFB2F25A90U, 0xED1932p-24F},
    {424U, 12345U, 0x55557BE7808FDE29U, 0x55557Bp-24F},
    {31U, 2147483648U, 0xA17DF16BB47C57F7U, 0xA17DF1p-24F},
    {31U, 4294967301U, 0x395553F2157DCC51U, 0x395553p-24F},
    {7U, 1099511627776U, 0x9862A44A4D980F6CU, 0x9862A4p-24F},
    {18446744073709551615U, 18446744073709551615U, 0x6A5CA13BE3A3489EU, 0x6A5CA1p-24F},
};

TEST(RandomBits, AreThoseOfTheFormulaInPython) {
  for (const Known& k : known) {
    EXPECT_EQ(random_bits(k.stream, k.index), k.bits) << k.stream << ", " << k.index;
  }
}

TEST(Uniform, IsTheTop24BitsTimes2ToTheMinus24) {
  for (const Known& k : known) {
    EXPECT_EQ(uniform(k.stream, k.index), k.uniform) << k.stream << ", " << k.index;
  }
}

TEST(Uniform, LiesInZeroToOneAndLooksUniform) {
  const std::uint64_t stream = test::seed();
  constexpr int count = 1 << 18;
  double sum = 0;
  float least = 1;
  float most = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const float u = uniform(stream, i);
    ASSERT_GE(u, 0.0F);
    ASSERT_LT(u, 1.0F);
    sum += u;
    least = std::min(least, u);
    most = std::max(most, u);
  }
  // Six standard deviations of the mean, and end gaps with a chance of e^-26.
  EXPECT_NEAR(sum / count, 0.5, 6 / std::sqrt(12.0 * count));
  EXPECT_LT(least, 1e-4F);
  EXPECT_GT(most, 1 - 1e-4F);
}

TEST(StreamOf, IsTenTimesTheSeedPlusTheInputsNumberModulo2To64) {
  EXPECT_EQ(stream_of(0, {.stream = 1}), 1U);
  EXPECT_EQ(stream_of(42, {.stream = 1}), 421U);
  EXPECT_EQ(stream_of(42, {.stream = 4}), 424U);
  // python3 -c "print((10*(2**64-1)+4)%2**64)"
  EXPECT_EQ(stream_of(std::numeric_limits<std::uint64_t>::max(), {.stream = 4}),
            18446744073709551610U);
}

TEST(InputValue, ScalesThenShiftsThenMultiplies) {
  const Known& k = known[4];
  const InputRecipe bias = {.stream = 4, .scale = 4.0F, .offset = -2.0F};
  constexpr std::uint64_t any = 1U << 20U;  // elements; only a sprinkled recipe looks at it
  EXPECT_EQ(input_value(bias, k.stream, k.index, any), 4 * k.uniform - 2);
  const InputRecipe scaled = {.stream = 4, .scale = 2.0F, .offset = -1.0F, .factor = 0.1F};
  EXPECT_EQ(input_value(scaled, k.stream, k.index, any), (2 * k.uniform - 1) * 0.1F);
  EXPECT_EQ(input_value({.stream = 4}, k.stream, k.index, any), k.uniform);
}

TEST(Draw, NormalHasTheMomentsOfTwelveUniformsAndIsExactInFloat32) {
  const std::uint64_t stream = test::seed();
  constexpr int count = 1 << 18;
  double sum = 0;
  double square = 0;
  double fourth = 0;
  for (int i = 0; i < count; ++i) {
    const double z = drawn(Draw::normal, stream, static_cast<std::uint64_t>(i));
    ASSERT_EQ(z * 0x1p17, std::round(z * 0x1p17));  // a multiple of 2^-17
    ASSERT_LE(std::abs(z), 6.0);
    sum += z;
    square += z * z;
    fourth += z * z * z * z;
  }
  // Mean 0, variance 1, fourth moment 3 - 1.2 / 12 = 2.9; five standard errors each.
  EXPECT_NEAR(sum / count, 0.0, 5.0 / 512);
  EXPECT_NEAR(square / count, 1.0, 5 * std::sqrt(1.9) / 512);
  EXPECT_NEAR(fourth / count, 2.9, 5 * 9.5 / 512);
}

TEST(Draw, GivesWhatItsNameSaysAndAllOfIt) {
  const std::uint64_t stream = test::seed();
  std::set<float> integers;
  std::set<std::uint32_t> specials;
  std::set<float> near_ones;
  bool both_signs[2] = {};
  for (std::uint64_t i = 0; i < 1U << 17U; ++i) {
    integers.insert(drawn(Draw::integer, stream, i));
    specials.insert(std::bit_cast<std::uint32_t>(drawn(Draw::special, stream, i)));
    near_ones.insert(drawn(Draw::near_one, stream, i));
    const float tiny = drawn(Draw::subnormal, stream, i);
    ASSERT_LT(std::abs(tiny), std::numeric_limits<float>::min());
    both_signs[std::signbit(tiny)] = true;
    ASSERT_EQ(drawn(Draw::constant, stream, i), 1.0F);
  }
  EXPECT_EQ(integers, (std::set<float>{-2, -1, 0, 1, 2}));
  EXPECT_EQ(specials.size(), special_values);
  EXPECT_TRUE(both_signs[0] && both_signs[1]);
  EXPECT_EQ(near_ones.size(), 4096U);
  EXPECT_EQ(*near_ones.begin(), 1.0F);
  EXPECT_EQ(*near_ones.rbegin(), 1.0F + 4095.0F / 4096.0F);
}

TEST(Draw, WideHasEveryExponentEquallyOftenInEitherSign) {
  const unsigned long long stream = test::seed();
  std::map<int, int> exponents;
  int negative = 0;
  constexpr int count = 64000;
  for (unsigned i = 0; i < count; ++i) {
    const float value = drawn(Draw::wide, stream, i);
    ++exponents[std::ilogb(value)];
    negative += static_cast<int>(std::signbit(value));
  }
  ASSERT_EQ(exponents.size(), 32U);
  EXPECT_EQ(exponents.begin()->first, -30);
  // 2000 of each, 6 standard deviations (44) either way.
  for (const auto& [exponent, times] : exponents) EXPECT_NEAR(times, 2000, 265) << exponent;
  EXPECT_NEAR(negative, count / 2, 6 * 127);
}

TEST(Draw, BandedSharesAPowerOfTwoAmong64InARowAndNoFraction) {
  const unsigned long long stream = test::seed();
  std::set<int> powers;
  for (unsigned band = 0; band < 5000; ++band) {
    std::set<float> values;
    const int power = std::ilogb(drawn(Draw::banded, stream, 64U * band));
    for (unsigned i = 64U * band; i < 64U * (band + 1); ++i) {
      const float value = drawn(Draw::banded, stream, i);
      ASSERT_EQ(std::ilogb(value), power) << i;
      values.insert(value);
    }
    EXPECT_GE(values.size(), 60U);
    powers.insert(power);
  }
  EXPECT_EQ(powers.size(), 91U);
  EXPECT_EQ(*powers.begin(), -90);
  EXPECT_EQ(*powers.rbegin(), 0);
}

TEST(InputValue, SprinklesTheFirstTheLastAndAboutOneOfAThousand) {
  const std::uint64_t stream = test::seed();
  constexpr std::uint64_t count = 1U << 18U;
  const InputRecipe recipe = {
      .stream = 1, .sprinkled = true, .sprinkle = std::numeric_limits<float>::quiet_NaN()};
  int sprinkled = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    sprinkled += std::isnan(input_value(recipe, stream, i, count));
  }
  EXPECT_TRUE(std::isnan(input_value(recipe, stream, 0, count)));
  EXPECT_TRUE(std::isnan(input_value(recipe, stream, count - 1, count)));
  EXPECT_NEAR(sprinkled, count / 1021.0, 8 * std::sqrt(count / 1021.0));
}

TEST(Poison, IsAQuietNanThatNoProcessorMakesAndNoInputHolds) {
  const std::uint64_t seed = test::seed();
  for (std::uint64_t i = 0; i < 1U << 18U; ++i) {
    const std::uint32_t bits = poison_bits(seed, i);
    // Not 0x7FC00000, 0xFFC00000 (x86), 0x7FFFFFFF (CUDA), nor special_value()'s 0x7FC00001.
    ASSERT_EQ(bits & 0xFFF00000U, 0x7FD00000U) << i;
    ASSERT_TRUE(std::isnan(std::bit_cast<float>(bits)));
  }
}

TEST(Poison, DiffersBetweenSeedsAndBetweenElements) {
  // Of 1000 words with 22 random bits, more than ten coincidences have a chance under 1e-15.
  std::set<std::uint32_t> words;
  int same = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    words.insert(poison_bits(1, i));
    same += poison_bits(1, i) == poison_bits(2, i);
  }
  EXPECT_GT(words.size(), 990U);
  EXPECT_LT(same, 10);
}

TEST(FingerprintTerm, DependsOnBothTheWordAndItsPlace) {
  EXPECT_NE(fingerprint_term(0, 1), fingerprint_term(0, 2));
  EXPECT_NE(fingerprint_term(0, 1), fingerprint_term(1, 1));
  EXPECT_NE(fingerprint_term(0, 1) + fingerprint_term(1, 2),
            fingerprint_term(0, 2) + fingerprint_term(1, 1));
}

}  // namespace
}  // namespace fusebench
