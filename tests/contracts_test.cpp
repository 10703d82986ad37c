// The contracts' bounds, by simulation. Catches a bound that an honest implementation breaks, one so loose
// that a lowered precision passes for float32, and an underflow term that does not cover underflow.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "harness/core/registry.hpp"
#include "harness/verify/acceptance.hpp"
#include "reference/residual_epilogue.hpp"
#include "tests/contracts.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

using residual_epilogue::exact_order;
using residual_epilogue::expectation;
using test::Contract;
using test::contracts;

struct Form {
  const char* name;
  std::function<float(float, float)> value;
};
const Form forms[] = {
    {"exact order", [](float c, float b) { return exact_order(c, b); }},
    {"c (2c + (b + 1))", [](float c, float b) { return c * (2.0F * c + (b + 1.0F)); }},
    {"c fma(2, c, b + 1)", [](float c, float b) { return c * std::fma(2.0F, c, b + 1.0F); }},
    {"fma((c + b) + c, c, c)", [](float c, float b) { return std::fma((c + b) + c, c, c); }},
    {"2 c c + (b c + c)", [](float c, float b) { return 2.0F * c * c + (b * c + c); }},
    {"fma(c, fma(2, c, b), c)",
     [](float c, float b) { return std::fma(c, std::fma(2.0F, c, b), c); }},
};

const Operator& epilogue() { return registry().find_operator("residual_epilogue"); }

// The inputs of every input set whose finite values the contract allows.
template <typename Visit>
void for_inputs(const OperandFormat& format, std::uint64_t seed, const Visit& visit) {
  std::vector<InputSet> sets = epilogue().input_sets();
  sets.push_back({"official", {{.stream = 1}, {.stream = 4, .scale = 4.0F, .offset = -2.0F}}});
  sets.push_back({"tiny", {{.stream = 1, .scale = 1e-20F, .draw = Draw::normal}, {.stream = 4}}});
  constexpr std::uint64_t count = 40'000;
  for (const InputSet& set : sets) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto at = [&](std::size_t t) {
        return input_value(set.recipes[t], stream_of(seed, set.recipes[t]), i, count);
      };
      const float c = at(0);
      const float b = at(1);
      if (!std::isfinite(c) || !std::isfinite(b)) continue;
      if (std::abs(c) > format.most || std::abs(b) > format.most) continue;
      visit(set, c, b);
    }
  }
}

TEST(Contracts, AcceptEveryHonestFormOnEveryInputInTheirRange) {
  const std::uint64_t seed = test::seed();
  for (const Contract& contract : contracts) {
    const AcceptanceRule rule = rule_of(epilogue(), contract.precision);
    double largest = 0;  // share of the bound that was used
    for_inputs(
        operand_format(contract.precision), seed, [&](const InputSet& set, float c, float b) {
          const Expectation expected = expectation(c, b);
          for (const Form& form : forms) {
            const float got = form.value(contract.hold(c), contract.hold(b));
            ASSERT_TRUE(accepted(rule, expected, got))
                << to_string(contract.precision) << ", " << form.name << ", " << set.name
                << ": c=" << c << " b=" << b << " gave " << got << " for " << expected.value;
            const double bound = rule.bound.relative * expected.magnitude + rule.bound.absolute;
            if (std::isfinite(got)) {
              largest = std::max(largest, std::abs(got - expected.value) / bound);
            }
          }
        });
    // Not so loose that it says nothing.
    EXPECT_GT(largest, 0.2) << to_string(contract.precision);
    RecordProperty(std::string(to_string(contract.precision)), std::to_string(largest));
  }
}

TEST(Contracts, TellALoweredPrecisionFromFloat32OnNearlyEveryElement) {
  const std::uint64_t seed = test::seed();
  const AcceptanceRule rule = rule_of(epilogue(), Precision::float32);
  for (const Contract& contract : contracts) {
    if (contract.precision == Precision::float32) continue;
    int told = 0;
    constexpr int count = 20'000;
    for (int i = 0; i < count; ++i) {
      const auto index = static_cast<std::uint64_t>(i);
      const float c = uniform(stream_of(seed, {.stream = 1}), index);
      const float b = 4.0F * uniform(stream_of(seed, {.stream = 4}), index) - 2.0F;
      const float got = exact_order(contract.hold(c), contract.hold(b));
      told += !accepted(rule, expectation(c, b), got);
    }
    // Two bf16 hold 16 bits and more, and round to the same float for many an element.
    const double least = contract.precision == Precision::bf16x3 ? 0.5 : 0.97;
    EXPECT_GT(told, least * count) << to_string(contract.precision);
  }
}

TEST(Contracts, EachIsLooserThanTheOneBeforeItAndNoneAcceptsZeros) {
  double before = 0;
  for (const Precision precision :
       {Precision::float32, Precision::bf16x3, Precision::fp16, Precision::tf32, Precision::bf16}) {
    const AcceptanceRule rule = rule_of(epilogue(), precision);
    EXPECT_GT(rule.bound.relative, before) << to_string(precision);
    before = rule.bound.relative;
    EXPECT_FALSE(accepted(rule, expectation(0.5F, 1.0F), 0.0F)) << to_string(precision);
    EXPECT_FALSE(accepted(rule, expectation(0.5F, 1.0F), 0.5F)) << to_string(precision);
  }
}

TEST(Contracts, AllowOverflowOnlyWhereAnotherOrderMayOverflow) {
  const AcceptanceRule rule = rule_of(epilogue(), Precision::float32);
  const float infinity = std::numeric_limits<float>::infinity();
  // 2c c alone overflows, although b = -2c leaves the exact order finite.
  const float c = 1.5e19F;
  ASSERT_TRUE(std::isfinite(exact_order(c, -2.0F * c)));
  EXPECT_TRUE(accepted(rule, expectation(c, -2.0F * c), infinity));
  EXPECT_FALSE(accepted(rule, expectation(1e18F, -2e18F), infinity));
  EXPECT_FALSE(accepted({true, {}}, expectation(c, -2.0F * c), infinity));
}

}  // namespace
}  // namespace fusebench
