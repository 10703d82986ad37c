// The convolution's contracts, by simulation. Catches a bound that an honest implementation breaks, and one
// so loose that a lowered precision passes for float32.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "harness/core/registry.hpp"
#include "harness/verify/acceptance.hpp"
#include "reference/conv_transpose3d_residual.hpp"
#include "tests/contracts.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

using conv_transpose3d_residual::convolution_sizes;
using residual_epilogue::exact_order;
using test::Contract;
using test::contracts;

const Operator& convolution() {
  return registry().find_operator(conv_transpose3d_residual::operator_name);
}

struct Inputs {
  std::vector<float> x, w, conv_bias, b;
  [[nodiscard]] std::vector<std::span<const float>> spans() const { return {x, w, conv_bias, b}; }
};

Inputs make(const Problem& problem, const InputSet& set, std::uint64_t seed) {
  const std::vector<TensorSpec> specs = convolution().tensors(problem);
  Inputs inputs;
  std::vector<float>* const all[] = {&inputs.x, &inputs.w, &inputs.conv_bias, &inputs.b};
  for (std::size_t t = 0; t < 4; ++t) {
    const auto count = static_cast<std::uint64_t>(element_count(specs[t].shape));
    const InputRecipe& recipe = set.recipes[t];
    for (std::uint64_t i = 0; i < count; ++i) {
      all[t]->push_back(input_value(recipe, stream_of(seed, recipe), i, count));
    }
  }
  return inputs;
}

bool in_range(const Inputs& inputs, double most) {
  for (const auto& values : inputs.spans()) {
    for (const float value : values) {
      if (std::isfinite(value) && std::abs(value) > most) return false;
    }
  }
  return true;
}

// One output as a kernel would compute it: operands held in a format, products and sums in float32, either
// all in a row or a channel at a time.
class Simulation {
 public:
  Simulation(const ConvTranspose3d& p, const Inputs& inputs) : sizes_(convolution_sizes(p)) {
    x_ = inputs.x;
    w_ = inputs.w;
    bias_ = inputs.conv_bias;
    b_ = inputs.b;
    positions_ = static_cast<std::size_t>(p.output_positions());
  }

  [[nodiscard]] float output(std::size_t index, const Contract& contract, bool by_channel) const {
    const std::size_t channel = index / positions_ % sizes_.out_channels;
    const std::size_t item = index / positions_ / sizes_.out_channels;
    const std::size_t position = index % positions_;
    const unsigned out[3] = {static_cast<unsigned>(position / sizes_.output[2] / sizes_.output[1]),
                             static_cast<unsigned>(position / sizes_.output[2] % sizes_.output[1]),
                             static_cast<unsigned>(position % sizes_.output[2])};
    float sum = bias_[channel];
    for (unsigned ci = 0; ci < sizes_.in_channels; ++ci) {
      float of_channel = by_channel ? 0.0F : sum;
      for (unsigned tap = 0; tap < sizes_.kernel[0] * sizes_.kernel[1] * sizes_.kernel[2]; ++tap) {
        const unsigned k[3] = {tap / sizes_.kernel[2] / sizes_.kernel[1],
                               tap / sizes_.kernel[2] % sizes_.kernel[1], tap % sizes_.kernel[2]};
        unsigned in[3];
        bool exists = true;
        for (unsigned i = 0; i < 3; ++i) {
          exists = exists && find_source(sizes_, i, out[i], k[i], in[i]);
        }
        if (!exists) continue;
        const std::size_t from =
            (((item * sizes_.in_channels + ci) * sizes_.input[0] + in[0]) * sizes_.input[1] +
             in[1]) *
                sizes_.input[2] +
            in[2];
        const std::size_t by = (ci * sizes_.out_channels + channel) * sizes_.kernel[0] *
                                   sizes_.kernel[1] * sizes_.kernel[2] +
                               tap;
        of_channel = add(of_channel, x_[from], w_[by], contract);
      }
      sum = by_channel ? sum + of_channel : of_channel;
    }
    return exact_order(sum, b_[channel]);
  }

 private:
  static float add(float sum, float x, float w, const Contract& contract) {
    if (contract.precision != Precision::bf16x3) {
      return std::fma(contract.hold(x), contract.hold(w), sum);
    }
    const float x_high = test::bf16(x);
    const float w_high = test::bf16(w);
    sum = std::fma(test::bf16(x - x_high), w_high, sum);
    sum = std::fma(x_high, test::bf16(w - w_high), sum);
    return std::fma(x_high, w_high, sum);
  }

  ConvolutionSizes sizes_;
  std::vector<float> x_, w_, bias_, b_;
  std::size_t positions_ = 0;
};

std::vector<InputSet> all_sets(const Problem& problem) {
  std::vector<InputSet> sets = convolution().input_sets();
  InputSet official{.name = "official", .recipes = {}};
  for (const TensorSpec& spec : convolution().tensors(problem)) {
    if (spec.role == TensorRole::input) official.recipes.push_back(spec.recipe);
  }
  sets.push_back(official);
  return sets;
}

TEST(ConvolutionContracts, AcceptHonestSumsOnEveryInputInTheirRange) {
  const std::uint64_t seed = test::seed();
  const Problem problem =
      convolution().parse_problem("n=1,ci=16,co=3,d=2,h=3,w=4,k=3,s=2,p=1,op=1");
  const ConvTranspose3d p = conv_transpose3d_of(problem);
  for (const Contract& contract : contracts) {
    const AcceptanceRule rule = rule_of(convolution(), contract.precision);
    double largest = 0;  // share of the bound that was used
    for (const InputSet& set : all_sets(problem)) {
      const Inputs inputs = make(problem, set, seed);
      if (!in_range(inputs, convolution().format_of(contract.precision).most)) continue;
      const Simulation simulation(p, inputs);
      std::vector<Expectation> expected(static_cast<std::size_t>(p.output_elements()));
      convolution().oracle(problem, inputs.spans())->expect(0, expected);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        for (const bool by_channel : {false, true}) {
          const float got = simulation.output(i, contract, by_channel);
          ASSERT_TRUE(accepted(rule, expected[i], got))
              << to_string(contract.precision) << ", " << set.name << ", element " << i << ": got "
              << got << " for " << expected[i].value;
          const double bound = rule.bound.relative * expected[i].magnitude + rule.bound.absolute +
                               rule.bound.flush * expected[i].underflow;
          if (std::isfinite(got)) {
            largest = std::max(largest, std::abs(got - expected[i].value) / bound);
          }
        }
      }
    }
    EXPECT_GT(largest, 0.03) << to_string(contract.precision);
    RecordProperty(std::string(to_string(contract.precision)), std::to_string(largest));
    std::cout << to_string(contract.precision) << " reaches " << largest << " of its bound\n";
  }
}

TEST(ConvolutionContracts, TellALoweredPrecisionFromFloat32OnOfficialInputs) {
  const std::uint64_t seed = test::seed();
  const Problem problem =
      convolution().parse_problem("n=1,ci=32,co=8,d=3,h=4,w=5,k=3,s=2,p=1,op=1");
  const ConvTranspose3d p = conv_transpose3d_of(problem);
  const Inputs inputs = make(problem, all_sets(problem).back(), seed);
  const Simulation simulation(p, inputs);
  std::vector<Expectation> expected(static_cast<std::size_t>(p.output_elements()));
  convolution().oracle(problem, inputs.spans())->expect(0, expected);
  const AcceptanceRule rule = rule_of(convolution(), Precision::float32);
  for (const Contract& contract : contracts) {
    int told = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      told += !accepted(rule, expected[i], simulation.output(i, contract, false));
    }
    const double share = told / static_cast<double>(expected.size());
    std::cout << to_string(contract.precision) << " is refused as float32 on " << 100 * share
              << "% of elements\n";
    if (contract.precision == Precision::float32) {
      EXPECT_EQ(told, 0);
    } else if (contract.precision != Precision::bf16x3) {
      EXPECT_GT(share, 0.85) << to_string(contract.precision);
    }
  }
}

// Tensor cores may take subnormal operands for 0; float32 may not.
TEST(ConvolutionContracts, AllowOperandsToVanishInTheSmallerFormatsOnly) {
  const std::uint64_t seed = test::seed();
  const Problem problem =
      convolution().parse_problem("n=1,ci=16,co=3,d=2,h=3,w=4,k=3,s=2,p=1,op=1");
  const ConvTranspose3d p = conv_transpose3d_of(problem);
  for (const InputSet& set : convolution().input_sets()) {
    if (set.name != "subnormal x" && set.name != "subnormal w") continue;
    const Inputs inputs = make(problem, set, seed);
    Inputs flushed = inputs;
    for (auto* values : {&flushed.x, &flushed.w}) {
      for (float& value : *values) {
        if (std::abs(value) < std::numeric_limits<float>::min()) value = 0.0F;
      }
    }
    const Simulation simulation(p, flushed);
    std::vector<Expectation> expected(static_cast<std::size_t>(p.output_elements()));
    convolution().oracle(problem, inputs.spans())->expect(0, expected);
    for (const Contract& contract : contracts) {
      const AcceptanceRule rule = rule_of(convolution(), contract.precision);
      std::size_t refused = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        refused += !accepted(rule, expected[i], simulation.output(i, contract, false));
      }
      if (contract.precision == Precision::float32) {
        EXPECT_GT(refused, expected.size() / 2) << set.name;
      } else {
        EXPECT_EQ(refused, 0U) << set.name << ", " << to_string(contract.precision);
      }
    }
  }
}

// Zeros that pad an input, times an infinite weight.
TEST(ConvolutionContracts, AllowAnythingNonFiniteWhereAWeightOfTheChannelIs) {
  const ConvTranspose3d p = parse_conv_transpose3d("n=1,ci=1,co=2,d=1,h=1,w=2,k=1,s=2,op=1");
  const float infinity = std::numeric_limits<float>::infinity();
  const Inputs inputs = {{1.0F, 1.0F}, {infinity, 1.0F}, {0.0F, 0.0F}, {0.0F, 0.0F}};
  std::vector<Expectation> expected(static_cast<std::size_t>(p.output_elements()));
  convolution().oracle(problem_of(p), inputs.spans())->expect(0, expected);
  const AcceptanceRule rule = rule_of(convolution(), Precision::float32);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(accepted(rule, expected[1], 0.0F));  // no input reaches it
  EXPECT_TRUE(accepted(rule, expected[1], nan));
  EXPECT_FALSE(accepted(rule, expected[1], 1.0F));
  EXPECT_FALSE(accepted(rule, expected[expected.size() - 1], nan));  // the other channel
}

// Where 4c + b + 1 is nearly 0, K without its second-order term is nearly G.
TEST(ConvolutionContracts, TheBoundCoversTheSecondOrderOfALargeErrorInC) {
  const ConvolutionSum c{-0.25, 1000.0};
  const Expectation expected = conv_transpose3d_residual::expectation(c, 0.0F, false);
  for (const Contract& contract : contracts) {
    const AcceptanceRule rule = rule_of(convolution(), contract.precision);
    const double error = rule.bound.relative * c.size;
    const double y = residual_epilogue::oracle_value(c.value + error, 0.0);
    EXPECT_TRUE(accepted(rule, expected, static_cast<float>(y))) << to_string(contract.precision);
  }
}

// Products near the end of the subnormals lose half of 2^-149 each.
TEST(ConvolutionContracts, CoverProductsThatUnderflow) {
  const Problem problem = convolution().parse_problem("n=1,ci=256,co=1,d=1,h=1,w=1,k=1");
  const std::uint64_t seed = test::seed();
  Inputs inputs;
  for (std::uint64_t i = 0; i < 256; ++i) {
    inputs.x.push_back(0x1p-75F * (1.0F + uniform(seed, i)));
    inputs.w.push_back(0x1p-75F * (1.0F + uniform(seed + 1, i)));
  }
  inputs.conv_bias = {0.0F};
  inputs.b = {1.0F};
  std::vector<Expectation> expected(1);
  convolution().oracle(problem, inputs.spans())->expect(0, expected);
  const Simulation simulation(conv_transpose3d_of(problem), inputs);
  float by_products = 0.0F;  // each product rounded by itself
  for (std::size_t i = 0; i < 256; ++i) by_products += inputs.x[i] * inputs.w[i];
  const AcceptanceRule rule = rule_of(convolution(), Precision::float32);
  EXPECT_TRUE(accepted(rule, expected[0], exact_order(by_products, 1.0F)));
  EXPECT_TRUE(accepted(rule, expected[0], simulation.output(0, contracts[0], false)));
}

}  // namespace
}  // namespace fusebench
