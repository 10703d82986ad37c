// The oracle's fast loops against its plain ones, bit for bit. Catches a tap at the wrong place, a row's
// end taken for the next row's beginning, and sums in another order.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/generator.hd.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/device.hpp"
#include "reference/conv_transpose3d_residual.hpp"
#include "reference/convolve_range.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

using namespace conv_transpose3d_residual;

std::uint64_t bits(double value) {
  return value != value ? 0 : std::bit_cast<std::uint64_t>(value);  // any NaN is like any other
}

void expect_equal_bits(const Problem& problem, const std::vector<InputRecipe>& recipes) {
  const std::uint64_t seed = test::seed();
  const Operator& op = registry().find_operator(operator_name);
  const auto device = open_device(DeviceKind::cpu, {});
  const std::vector<TensorSpec> tensors = op.tensors(problem);
  std::vector<std::vector<float>> inputs;
  for (std::size_t i = 0; i + 1 < tensors.size(); ++i) {
    inputs.emplace_back(static_cast<std::size_t>(element_count(tensors[i].shape)));
    device->generate(inputs[i].data(), element_count(tensors[i].shape), recipes[i], seed);
  }
  const ConvTranspose3d parameters = conv_transpose3d_of(problem);
  const ConvolutionSizes sizes = convolution_sizes(parameters);
  const float* const bias = parameters.bias ? inputs[tensor_conv_bias].data() : nullptr;
  const std::int64_t count = parameters.output_elements();
  // Ranges that begin and end within rows.
  constexpr std::int64_t length = 23;
  for (std::int64_t first = 0; first < count; first += length) {
    std::vector<ConvolutionSum> sums(static_cast<std::size_t>(std::min(length, count - first)));
    convolve_range(sizes, inputs[tensor_x].data(), inputs[tensor_w].data(), bias,
                   static_cast<unsigned long long>(first), sums);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto index = static_cast<unsigned long long>(first) + i;
      const ConvolutionSum plain =
          convolve(sizes, inputs[tensor_x].data(), inputs[tensor_w].data(), bias, index);
      ASSERT_EQ(bits(sums[i].value), bits(plain.value)) << problem.to_string() << " at " << index;
      ASSERT_EQ(bits(sums[i].size), bits(plain.size)) << problem.to_string() << " at " << index;
      ASSERT_EQ(bits(sums[i].operands), bits(plain.operands))
          << problem.to_string() << " at " << index;
    }
  }
}

TEST(ConvolveRange, GivesTheBitsOfThePlainLoops) {
  const Operator& op = registry().find_operator(operator_name);
  for (const Problem& problem : op.awkward_problems(Battery::quick)) {
    std::vector<InputRecipe> recipes;
    for (const TensorSpec& spec : op.tensors(problem)) recipes.push_back(spec.recipe);
    expect_equal_bits(problem, recipes);
  }
}

TEST(ConvolveRange, TreatsNanAndInfinityAlike) {
  const Operator& op = registry().find_operator(operator_name);
  const Problem problem = op.small_problems().back();
  for (const InputSet& set : op.input_sets()) expect_equal_bits(problem, set.recipes);
}

TEST(ConvolveRange, IsRightWhereTheStrideExceedsTheRow) {
  const Operator& op = registry().find_operator(operator_name);
  for (const char* text : {"n=1,ci=2,co=2,d=2,h=2,w=1,k=2,s=5", "n=2,ci=3,co=2,d=1,h=2,w=7,k=3,s=4,"
                                                                "p=1,op=3,dil=3"}) {
    const Problem problem = op.parse_problem(text);
    std::vector<InputRecipe> recipes;
    for (const TensorSpec& spec : op.tensors(problem)) recipes.push_back(spec.recipe);
    expect_equal_bits(problem, recipes);
  }
}

}  // namespace
}  // namespace fusebench
