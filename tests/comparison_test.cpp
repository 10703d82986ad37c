// Whole outputs against an oracle. Catches elements that are skipped, counts and worst cases that depend on
// where or on which thread they fall, poison taken for a result, and cheap outputs that pass for right.
#include "harness/verify/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <utility>

#include "harness/core/generator.hd.hpp"
#include "harness/core/registry.hpp"
#include "harness/verify/acceptance.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint64_t poison_seed = 99;
constexpr ErrorBound tight = {0, 1e-6};

// An output and what it should be; right wherever no test plants something.
class Output final : public Oracle {
 public:
  explicit Output(std::size_t count) : expected_(count), got_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      const float value = uniform(1, i) - 0.5F;
      plant(i, {value, value, 1.0, false}, value);
    }
  }
  void plant(std::size_t i, const Expectation& expected, float got) {
    expected_.at(i) = expected;
    got_.at(i) = got;
  }
  void plant(std::size_t i, float got) { got_.at(i) = got; }
  void leave_poison(std::size_t i) {
    got_.at(i) = std::bit_cast<float>(poison_bits(poison_seed, i));
  }
  [[nodiscard]] const Expectation& expected(std::size_t i) const { return expected_.at(i); }

  void expect(std::int64_t first, std::span<Expectation> out) const override {
    std::copy_n(expected_.begin() + first, out.size(), out.begin());
  }
  [[nodiscard]] Comparison compared(Precision precision = Precision::float32,
                                    const ErrorBound& bound = tight) const {
    return compare(got_, *this, rule_of(precision, bound), poison_seed);
  }

 private:
  std::vector<Expectation> expected_;
  std::vector<float> got_;
};

TEST(Compare, CountsEveryElementAtSizesAroundItsOwnPieces) {
  for (const std::size_t count : {0U, 1U, 2047U, 2048U, 2049U, 4096U, 4097U, 100'003U}) {
    const Comparison comparison = Output(count).compared(Precision::exact_order, {});
    EXPECT_EQ(comparison.compared, static_cast<std::int64_t>(count));
    EXPECT_EQ(comparison.bit_equal, static_cast<std::int64_t>(count));
    EXPECT_EQ(comparison.wrong, 0) << count;
    EXPECT_EQ(comparison.outside_1e4, 0) << count;
    EXPECT_EQ(comparison.max_abs_error, 0) << count;
  }
}

TEST(Compare, FindsOneWrongElementWhereverItStands) {
  constexpr std::size_t count = 3 * 2048 + 77;
  std::vector<std::size_t> places = {0, 1, 2047, 2048, 4095, 4096, count - 2, count - 1};
  std::mt19937_64 random(test::seed());
  for (int i = 0; i < 40; ++i) places.push_back(random() % count);
  for (const std::size_t place : places) {
    for (const Precision precision : {Precision::float32, Precision::exact_order}) {
      Output output(count);
      output.plant(place, output.expected(place).exact + 0.25F);
      const Comparison comparison = output.compared(precision);
      ASSERT_EQ(comparison.wrong, 1) << place;
      EXPECT_EQ(comparison.worst.index, static_cast<std::int64_t>(place));
      ASSERT_EQ(comparison.first.size(), 1U);
      EXPECT_EQ(comparison.first[0].index, static_cast<std::int64_t>(place));
      EXPECT_EQ(comparison.outside_1e4, 1);
      EXPECT_EQ(comparison.bit_equal, static_cast<std::int64_t>(count - 1));
      EXPECT_NEAR(comparison.max_abs_error, 0.25, 1e-6);
    }
  }
}

TEST(Compare, FlagsUnderATightBoundWhatAWideOneAccepts) {
  Output output(5000);
  for (std::size_t i = 0; i < 5000; ++i) output.plant(i, output.expected(i).exact + 0.01F);
  EXPECT_EQ(output.compared(Precision::float32, {0, 0.1}).wrong, 0);
  EXPECT_EQ(output.compared(Precision::float32, {0, 1e-3}).wrong, 5000);
  EXPECT_EQ(output.compared(Precision::float32, {0, 0.1}).outside_1e4, 5000);
}

TEST(Compare, TakesPoisonForUnwrittenAndWrongEvenWhereANanIsExpected) {
  Output output(5000);
  const Expectation nan_entered = {nan, nan, nan, true};
  output.plant(7, nan_entered, nan);  // written: right
  output.plant(8, nan_entered, 0);
  output.leave_poison(8);
  output.leave_poison(4999);
  for (const Precision precision : {Precision::float32, Precision::exact_order}) {
    const Comparison comparison = output.compared(precision);
    EXPECT_EQ(comparison.unwritten, 2);
    EXPECT_EQ(comparison.wrong, 2);
  }
}

TEST(Compare, ReportsAnInfiniteErrorWhereAFiniteValueWasExpectedAndNoneCame) {
  for (const float got : {nan, inf, -inf}) {
    Output output(5000);
    output.plant(123, got);
    const Comparison comparison = output.compared();
    EXPECT_EQ(comparison.max_abs_error, inf) << got;
    EXPECT_EQ(comparison.max_rel_error, inf) << got;
    EXPECT_EQ(comparison.wrong, 1) << got;
  }
}

TEST(Compare, MeasuresErrorsAgainstTheOracleAndRelativeOnesOnlyWhereItIsNotZero) {
  Output output(10);
  output.plant(3, {-2.0F, -2.0, 1.0, false}, -2.5F);
  output.plant(4, {0.0F, 0.0, 1.0, false}, 0.125F);
  const Comparison comparison = output.compared();
  EXPECT_EQ(comparison.max_abs_error, 0.5);
  EXPECT_EQ(comparison.max_rel_error, 0.25);
}

// Zero everywhere but at one place.
class OneInZeros final : public Oracle {
 public:
  explicit OneInZeros(std::int64_t place) : place_(place) {}
  void expect(std::int64_t first, std::span<Expectation> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const float value = first + static_cast<std::int64_t>(i) == place_ ? 1.0F : 0.0F;
      out[i] = {value, value, 1.0, false};
    }
  }

 private:
  std::int64_t place_;
};

TEST(Compare, CountsAndPlacesBeyondTwoToThe31Elements) {
#ifdef FUSEBENCH_SANITIZED
  GTEST_SKIP() << "takes minutes under a sanitizer; runs without";
#else
  constexpr std::size_t count = (std::size_t{1} << 31U) + 5;
  // Never written, so that the system maps one page of zeros again and again.
  void* const zeros = mmap(nullptr, count * sizeof(float), PROT_READ,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (zeros == MAP_FAILED) GTEST_SKIP() << "no 8 GiB of addresses";
  constexpr auto last = static_cast<std::int64_t>(count) - 1;
  const Comparison comparison =
      compare({static_cast<const float*>(zeros), count}, OneInZeros(last), {true, {}}, poison_seed);
  (void)munmap(zeros, count * sizeof(float));
  EXPECT_EQ(comparison.compared, static_cast<std::int64_t>(count));
  EXPECT_EQ(comparison.wrong, 1);
  EXPECT_EQ(comparison.worst.index, last);
#endif
}

TEST(Compare, PutsANonFiniteResultBeforeAnyFiniteErrorAndKeepsTheFirstFewInOrder) {
  Output output(20'000);
  const std::vector<std::int64_t> planted = {10, 3000, 9000, 15'000, 19'999};
  for (const std::int64_t i : planted) output.plant(static_cast<std::size_t>(i), 1e30F);
  output.plant(9000, nan);
  const Comparison comparison = output.compared();
  EXPECT_EQ(comparison.wrong, 5);
  EXPECT_EQ(comparison.worst.index, 9000);
  ASSERT_GE(comparison.first.size(), 3U);
  for (std::size_t i = 0; i < comparison.first.size(); ++i) {
    EXPECT_EQ(comparison.first[i].index, planted[i]);
  }
}

// The ways to be wrong, of finite and infinite error.
Mismatch wrong_in_some_way(std::uint64_t random) {
  const double size = std::ldexp(1.0, static_cast<int>(random / 8 % 64));
  switch (random % 8) {
    case 0: return {0, nan, {1.0F, 1.0, 1.0, false}};
    case 1: return {0, -inf, {1.0F, 1.0, 1.0, false}};
    case 2: return {0, 5.0F, {nan, nan, nan, true}};
    case 3: return {0, 5.0F, {inf, inf, inf, false}};
    case 4: return {0, 5.0F, {inf, 1e40 * size, 1e40, false}};  // overflow in float32 alone
    default: return {0, static_cast<float>(size), {-1.0F, -1.0, 1.0, false}};
  }
}

// Up to 2048 elements are one thread's work. Spread over many times that, the same mismatches fall to
// different threads, and must give the same result.
TEST(Compare, GivesTheSameResultWhicheverThreadsMeetTheMismatches) {
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 100; ++round) {
    constexpr std::size_t apart = 5000;
    const std::size_t count = 2 + random() % 8;
    Output close(count);
    Output spread(count * apart);
    for (std::size_t i = 0; i < count; ++i) {
      const Mismatch m = wrong_in_some_way(random());
      close.plant(i, m.expected, m.got);
      spread.plant(i * apart, m.expected, m.got);
    }
    const Comparison a = close.compared();
    const Comparison b = spread.compared();
    ASSERT_EQ(a.wrong, static_cast<std::int64_t>(count));
    ASSERT_EQ(b.wrong, a.wrong);
    EXPECT_EQ(b.max_abs_error, a.max_abs_error);
    EXPECT_EQ(b.max_rel_error, a.max_rel_error);
    ASSERT_EQ(b.worst.index, a.worst.index * static_cast<std::int64_t>(apart)) << "round " << round;
    ASSERT_EQ(b.first.size(), a.first.size());
    for (std::size_t i = 0; i < a.first.size(); ++i) {
      EXPECT_EQ(b.first[i].index, a.first[i].index * static_cast<std::int64_t>(apart));
    }
  }
}

TEST(Describe, NamesTheCountTheWorstElementItsPlaceBothValuesAndOthers) {
  const Shape shape = {2, 3, 4, 5, 6};
  Output output(720);
  output.plant(1, {2.5F, 2.5, 1.0, false}, 3.5F);
  output.plant(360 + 120 + 30 + 6 + 2, {-1.0F, -1.0, 1.0, false}, 40.0F);
  output.leave_poison(719);
  output.plant(718, {0.5F, 0.5, 1.0, false}, 0.75F);
  std::string text = describe(output.compared(), shape);
  EXPECT_THAT(text, StartsWith("4 of 720 elements wrong (1 never written); worst at "
                               "(n=1, c=2, d=3, h=4, w=5) got nan, expected "));
  EXPECT_THAT(text, HasSubstr("also (n=0, c=0, d=0, h=0, w=1) got 3.5, expected 2.5"));
  EXPECT_THAT(text, HasSubstr("(n=1, c=1, d=1, h=1, w=2) got 40, expected -1"));

  output.plant(719, output.expected(719).exact);
  text = describe(output.compared(), shape);
  EXPECT_THAT(text,
              StartsWith("3 of 720 elements wrong; worst at (n=1, c=1, d=1, h=1, w=2) got 40, "
                         "expected -1; also "));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
}

struct Cheat {
  const char* name;
  /// The output element of c and its bias, or of its place in the right output.
  std::function<float(float c, float b, std::size_t i, const std::vector<float>& right)> value;
};

TEST(Compare, FlagsCheapOutputsOfTheResidualEpilogueOnEveryCaseUnderEveryContract) {
  const std::vector<Cheat> cheats = {
      {"zeros", [](float, float, std::size_t, const auto&) { return 0.0F; }},
      {"a constant", [](float, float, std::size_t, const auto&) { return 0.5F; }},
      {"the input", [](float c, float, std::size_t, const auto&) { return c; }},
      {"negated", [](float, float, std::size_t i, const auto& right) { return -right[i]; }},
      {"the last sum left out",
       [](float c, float b, std::size_t, const auto&) { return (c + b + c) * c; }},
      {"the bias left out",
       [](float c, float, std::size_t, const auto&) { return (c + c) * c + c; }},
      {"the residual left out",
       [](float c, float b, std::size_t, const auto&) { return (c + b) * c + c; }},
      {"the product left out",
       [](float c, float b, std::size_t, const auto&) { return c + b + c + c; }},
      {"shifted by one", [](float, float, std::size_t i,
                            const auto& right) { return right[(i + 1) % right.size()]; }},
  };
  const Operator& op = registry().find_operator("residual_epilogue");
  std::vector<Problem> problems = op.awkward_problems(Battery::quick);
  problems.push_back(op.parse_problem("2,64,4,8,16"));
  for (const Problem& problem : problems) {
    const std::vector<TensorSpec> specs = op.tensors(problem);
    std::vector<std::vector<float>> inputs;
    for (std::size_t t = 0; t < 2; ++t) {
      auto& values = inputs.emplace_back(static_cast<std::size_t>(element_count(specs[t].shape)));
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = input_value(specs[t].recipe, stream_of(3, specs[t].recipe), i, values.size());
      }
    }
    const std::vector<std::span<const float>> views = {inputs[0], inputs[1]};
    const auto oracle = op.oracle(problem, views);
    std::vector<Expectation> expected(inputs[0].size());
    oracle->expect(0, expected);
    std::vector<float> right;
    for (const Expectation& e : expected) right.push_back(e.exact);
    const std::size_t spatial =
        right.size() / (inputs[1].size() * static_cast<std::size_t>(problem.size("n")));

    for (const auto& [precision, bound] : {std::pair{Precision::exact_order, ErrorBound{}},
                                           {Precision::float32, op.bound(Precision::float32)}}) {
      const auto wrong_of = [&, p = precision, e = bound](const std::vector<float>& got) {
        return compare(got, *oracle, rule_of(p, e), poison_seed).wrong;
      };
      ASSERT_EQ(wrong_of(right), 0) << problem.to_string();
      for (const Cheat& cheat : cheats) {
        if (right.size() == 1 && cheat.name == std::string("shifted by one")) continue;
        std::vector<float> got(right.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
          const float b = inputs[1][i / spatial % inputs[1].size()];
          got[i] = cheat.value(inputs[0][i], b, i, right);
        }
        EXPECT_GT(2 * wrong_of(got), static_cast<std::int64_t>(right.size()))
            << cheat.name << " at " << problem.to_string() << " under " << to_string(precision);
      }
    }
  }
}

}  // namespace
}  // namespace fusebench
