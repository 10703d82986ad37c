// ConvTranspose3d: its parameters, and the oracle against PyTorch and against the definition. Catches a tap
// that reads the wrong neighbour, a group that reads another's channels, and sizes that PyTorch refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/core/error.hpp"
#include "harness/core/generator.hd.hpp"
#include "harness/core/registry.hpp"
#include "harness/verify/acceptance.hpp"
#include "reference/conv_transpose3d_residual.hpp"
#include "tests/npy.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

using conv_transpose3d_residual::convolution_sizes;
using test::golden_folder;
using test::npy_shape;
using test::read_npy;

const Operator& convolution() {
  return registry().find_operator(conv_transpose3d_residual::operator_name);
}

std::string refusal(const std::string& text) {
  try {
    (void)convolution().parse_problem(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ConvTranspose3d, ReadsEachParameterForAllDimensionsOrForOne) {
  const ConvTranspose3d p = parse_conv_transpose3d(
      "n=2,ci=4,co=6,d=3,h=5,w=7,k=3,kw=4,sd=1,sh=2,sw=3,p=1,oph=1,opw=2,dil=2,dilw=1,g=2,bias=0");
  EXPECT_EQ(p.kernel, (PerDimension{3, 3, 4}));
  EXPECT_EQ(p.stride, (PerDimension{1, 2, 3}));
  EXPECT_EQ(p.padding, (PerDimension{1, 1, 1}));
  EXPECT_EQ(p.output_padding, (PerDimension{0, 1, 2}));
  EXPECT_EQ(p.dilation, (PerDimension{2, 2, 1}));
  EXPECT_EQ(p.groups, 2);
  EXPECT_FALSE(p.bias);
  // (3-1)*1 - 2 + 2*2 + 0 + 1, (5-1)*2 - 2 + 2*2 + 1 + 1, (7-1)*3 - 2 + 3 + 2 + 1
  EXPECT_EQ(p.output(), (PerDimension{5, 12, 22}));
}

TEST(ConvTranspose3d, HasOneTextForOneSetOfParameters) {
  for (const auto& [given, canonical] : {
           std::pair("k=3,w=1,h=2,d=3,co=4,ci=5,n=6", "n=6,ci=5,co=4,d=3,h=2,w=1,k=3,s=1,p=0,op=0"),
           {"n=1,ci=1,co=1,d=1,h=1,w=1,kd=2,kh=2,kw=2,sd=3,sh=3,sw=3,op=1,g=1,bias=1,dil=1",
            "n=1,ci=1,co=1,d=1,h=1,w=1,k=2,s=3,p=0,op=1"},
           {"n=1,ci=2,co=2,d=4,h=4,w=4,k=3,kw=1,dil=2,g=2,bias=0",
            "n=1,ci=2,co=2,d=4,h=4,w=4,kd=3,kh=3,kw=1,s=1,p=0,op=0,dil=2,g=2,bias=0"},
       }) {
    const Problem problem = convolution().parse_problem(given);
    EXPECT_EQ(problem.to_string(), canonical);
    EXPECT_EQ(convolution().parse_problem(canonical), problem);
  }
  EXPECT_EQ(convolution().parse_problem("official").to_string(),
            "n=16,ci=32,co=64,d=16,h=32,w=32,k=3,s=2,p=1,op=1");
  EXPECT_EQ(convolution().useful_bytes(convolution().parse_problem("official")),
            4 * (8388608LL + 55296 + 64 + 64 + 134217728));
}

TEST(ConvTranspose3d, OfTheOfficialProblemHasAsManyOperationsAsThePeersOfScriptsSay) {
  EXPECT_EQ(convolution().flops(convolution().parse_problem("official")), 28'335'603'712);
}

// Every product by itself, against the formula.
TEST(ConvTranspose3d, CountsTwoOperationsForEachProductThatIsInTheOutputAndFourForEachOutput) {
  for (const char* text :
       {"n=1,ci=1,co=1,d=1,h=1,w=1,k=1", "n=2,ci=5,co=7,d=3,h=3,w=3,k=3,s=2,p=1,op=1",
        "n=1,ci=4,co=6,d=3,h=3,w=5,kd=2,kh=3,kw=4,sd=1,sh=2,sw=3,ph=1,pw=2,oph=1,opw=2",
        "n=1,ci=4,co=6,d=3,h=4,w=3,k=3,s=2,p=2,op=1,dil=2,g=2,bias=0",
        "n=1,ci=2,co=2,d=5,h=1,w=1,kd=5,kh=1,kw=1,sd=4,pd=3"}) {
    const Problem problem = convolution().parse_problem(text);
    const ConvTranspose3d p = conv_transpose3d_of(problem);
    std::int64_t products = p.n * p.in_channels * p.out_channels / p.groups;
    for (std::size_t i = 0; i < 3; ++i) {
      std::int64_t inside = 0;
      for (std::int64_t at = 0; at < p.input[i]; ++at) {
        for (std::int64_t tap = 0; tap < p.kernel[i]; ++tap) {
          const std::int64_t to = at * p.stride[i] - p.padding[i] + tap * p.dilation[i];
          if (to >= 0 && to < p.output()[i]) ++inside;
        }
      }
      products *= inside;
    }
    EXPECT_EQ(convolution().flops(problem), 2 * products + 4 * p.output_elements()) << text;
  }
}

TEST(ConvTranspose3d, RefusesImpossibleParametersByName) {
  const std::string sizes = "n=1,ci=4,co=6,d=3,h=3,w=3,k=3";
  using testing::HasSubstr;
  for (const auto& [text, told] : {
           std::pair(sizes + ",op=1", "opd=1 must be smaller than the stride sd=1 or the dilation"),
           {sizes + ",s=2,opw=2", "opw=2 must be smaller than the stride sw=2"},
           {sizes + ",g=3", "ci=4 channels are not divisible by g=3"},
           {sizes + ",g=4", "co=6 channels are not divisible by g=4"},
           {sizes + ",ph=3", "extent h would be -1"},
           {sizes + ",s=0", "s must be between 1 and 1073741824, not 0"},
           {sizes + ",p=-1", "p must be between 0"},
           {sizes + ",bias=2", "bias must be 0 or 1"},
           {sizes + ",q=1", "unknown size 'q'"},
           {sizes + ",sw=x", "sw: 'x' is not a whole number"},
           {sizes + ",dil=1000000000,s=1000000000", "extent d would be"},
           {std::string("n=1,ci=4,co=6,d=3,h=3,w=3"), "size 'kd' is missing"},
           {std::string("n=1,co=6,d=3,h=3,w=3,k=1"), "size 'ci' is missing"},
           {std::string(""), "size 'n' is missing"},
           {std::string("1,2,3"), "'1' is not of the form key=value"},
       }) {
    EXPECT_THAT(refusal(text), HasSubstr(told)) << text;
  }
  EXPECT_THAT(refusal("n=1000000000,ci=1,co=1000000000,d=100000,h=1,w=1,k=1"), HasSubstr("2^60"));
}

TEST(ConvTranspose3d, AllowsOutputPaddingBelowTheDilation) {
  EXPECT_EQ(refusal("n=1,ci=1,co=1,d=2,h=2,w=2,k=3,s=1,dil=3,op=2"), "accepted");
}

struct Tensors {
  std::vector<float> x, w, conv_bias, b;
  [[nodiscard]] std::vector<std::span<const float>> spans() const { return {x, w, conv_bias, b}; }
};

class Golden : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::ifstream file(golden_folder() + "/" + GetParam() + "/params.json");
    const nlohmann::json params = nlohmann::json::parse(file);
    const auto x = npy_shape(path("x"));
    const auto w = npy_shape(path("weight"));
    const auto triple = [&](const char* name) { return params.at(name).get<PerDimension>(); };
    p_.n = x[0];
    p_.in_channels = x[1];
    p_.groups = params.at("groups").get<std::int64_t>();
    p_.out_channels = w[1] * p_.groups;
    p_.input = {x[2], x[3], x[4]};
    p_.kernel = triple("kernel");
    p_.stride = triple("stride");
    p_.padding = triple("padding");
    p_.output_padding = triple("output_padding");
    p_.dilation = triple("dilation");
    tensors_ = {read_npy<float>(path("x")), read_npy<float>(path("weight")),
                read_npy<float>(path("conv_bias")), read_npy<float>(path("bias"))};
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return golden_folder() + "/" + GetParam() + "/" + name + ".npy";
  }
  ConvTranspose3d p_;
  Tensors tensors_;
};

TEST_P(Golden, OutputHasPyTorchsShape) {
  const auto shape = npy_shape(path("conv_f64"));
  EXPECT_EQ(Shape({p_.n, p_.out_channels, p_.output()[0], p_.output()[1], p_.output()[2]}), shape);
}

TEST_P(Golden, Float64AgreesWithPyTorchTo1e12) {
  const auto c = read_npy<double>(path("conv_f64"));
  const auto y = read_npy<double>(path("out_f64"));
  const auto oracle = convolution().oracle(problem_of(p_), tensors_.spans());
  std::vector<Expectation> expected(y.size());
  oracle->expect(0, expected);
  ASSERT_EQ(static_cast<std::int64_t>(y.size()), p_.output_elements());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double sum = convolve(convolution_sizes(p_), tensors_.x.data(), tensors_.w.data(),
                                tensors_.conv_bias.data(), i)
                           .value;
    EXPECT_NEAR(sum, c[i], 1e-12 * std::abs(c[i])) << "element " << i;
    EXPECT_NEAR(expected[i].value, y[i], 1e-12 * std::abs(y[i])) << "element " << i;
  }
}

TEST_P(Golden, PyTorchsFloat32KeepsTheFloat32ContractAndTheHeadline) {
  const auto y = read_npy<float>(path("out_f32"));
  const auto oracle = convolution().oracle(problem_of(p_), tensors_.spans());
  std::vector<Expectation> expected(y.size());
  oracle->expect(0, expected);
  const AcceptanceRule rule = rule_of(convolution(), Precision::float32);
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_TRUE(accepted(rule, expected[i], y[i])) << "element " << i;
    EXPECT_TRUE(within_headline(expected[i], y[i])) << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(PyTorch, Golden,
                         testing::Values("groups2", "k2s2", "main_small", "odd_channels",
                                         "single_voxel", "stride1_nopad"),
                         [](const auto& each) { return std::string(each.param); });

// By the definition: each input adds its product with every tap of the kernel to one output.
std::vector<double> scattered(const ConvTranspose3d& p, const Tensors& t, bool sizes_only) {
  const PerDimension out = p.output();
  std::vector<double> y(static_cast<std::size_t>(p.output_elements()));
  const auto size = [&](double value) { return sizes_only ? std::abs(value) : value; };
  const std::int64_t out_of_group = p.out_channels / p.groups;
  const std::int64_t in_of_group = p.in_channels / p.groups;
  std::size_t from = 0;
  for (std::int64_t n = 0; n < p.n; ++n) {
    for (std::int64_t co = 0; co < p.out_channels && p.bias; ++co) {
      for (std::int64_t i = 0; i < p.output_positions(); ++i) {
        y[static_cast<std::size_t>((n * p.out_channels + co) * p.output_positions() + i)] =
            size(t.conv_bias[static_cast<std::size_t>(co)]);
      }
    }
    for (std::int64_t ci = 0; ci < p.in_channels; ++ci) {
      for (std::int64_t position = 0; position < p.input_positions(); ++position, ++from) {
        const PerDimension in = {position / p.input[2] / p.input[1],
                                 position / p.input[2] % p.input[1], position % p.input[2]};
        for (std::int64_t co = 0; co < out_of_group; ++co) {
          for (std::int64_t tap = 0; tap < p.taps(); ++tap) {
            const PerDimension k = {tap / p.kernel[2] / p.kernel[1],
                                    tap / p.kernel[2] % p.kernel[1], tap % p.kernel[2]};
            std::int64_t to = n * p.out_channels + ci / in_of_group * out_of_group + co;
            bool inside = true;
            for (std::size_t i = 0; i < 3; ++i) {
              const std::int64_t at = in[i] * p.stride[i] - p.padding[i] + k[i] * p.dilation[i];
              inside = inside && at >= 0 && at < out[i];
              to = to * out[i] + at;
            }
            if (!inside) continue;
            y[static_cast<std::size_t>(to)] +=
                size(static_cast<double>(t.x[from]) *
                     t.w[static_cast<std::size_t>((ci * out_of_group + co) * p.taps() + tap)]);
          }
        }
      }
    }
  }
  return y;
}

Tensors random_tensors(const ConvTranspose3d& p, std::uint64_t seed) {
  const std::vector<TensorSpec> specs = convolution().tensors(problem_of(p));
  Tensors tensors;
  std::vector<float>* const all[] = {&tensors.x, &tensors.w, &tensors.conv_bias, &tensors.b};
  for (std::size_t t = 0; t < 4; ++t) {
    const auto count = static_cast<std::uint64_t>(element_count(specs[t].shape));
    for (std::uint64_t i = 0; i < count; ++i) {
      all[t]->push_back(2 * normal(10 * seed + t, i));
    }
  }
  return tensors;
}

ConvTranspose3d random_parameters(std::uint64_t seed) {
  std::uint64_t draws = 0;
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    const auto span = static_cast<std::uint64_t>(most - least + 1);
    return least + static_cast<std::int64_t>(random_bits(seed, draws++) % span);
  };
  for (;;) {
    ConvTranspose3d p;
    p.n = draw(1, 2);
    p.groups = draw(1, 3);
    p.in_channels = p.groups * draw(1, 3);
    p.out_channels = p.groups * draw(1, 3);
    p.bias = draw(0, 3) > 0;
    bool possible = true;
    for (std::size_t i = 0; i < 3; ++i) {
      p.input[i] = draw(1, 4);
      p.kernel[i] = draw(1, 4);
      p.stride[i] = draw(1, 3);
      p.padding[i] = draw(0, 2);
      p.dilation[i] = draw(1, 3);
      p.output_padding[i] = draw(0, std::max(p.stride[i], p.dilation[i]) - 1);
      possible = possible && p.output()[i] >= 1;
    }
    if (possible) return p;
  }
}

TEST(ConvolutionOracle, IsTheDefinitionForAnyParameters) {
  const std::uint64_t seed = test::seed();
  for (std::uint64_t round = 0; round < 300; ++round) {
    const ConvTranspose3d p = random_parameters(random_bits(seed, round));
    const Tensors t = random_tensors(p, random_bits(seed, round));
    const std::vector<double> values = scattered(p, t, false);
    const std::vector<double> sizes = scattered(p, t, true);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const ConvolutionSum sum = convolve(convolution_sizes(p), t.x.data(), t.w.data(),
                                          p.bias ? t.conv_bias.data() : nullptr, i);
      ASSERT_NEAR(sum.value, values[i], 1e-14 * sizes[i])
          << problem_of(p).to_string() << " element " << i;
      ASSERT_NEAR(sum.size, sizes[i], 1e-14 * sizes[i] + 1e-30)
          << problem_of(p).to_string() << " element " << i;
    }
  }
}

TEST(ConvolutionOracle, AllowsLongSumsAnErrorThatGrowsAsTheRootOfTheirLength) {
  for (const auto& [products, factor] :
       {std::pair(256, 1.0), {257, 2.0}, {1024, 2.0}, {1025, 4.0}}) {
    const ConvTranspose3d p =
        parse_conv_transpose3d("n=1,co=1,d=1,h=1,w=1,k=1,bias=0,ci=" + std::to_string(products));
    const std::vector<float> ones(static_cast<std::size_t>(products), 1.0F);
    const ConvolutionSum sum = convolve(convolution_sizes(p), ones.data(), ones.data(), nullptr, 0);
    EXPECT_EQ(sum.value, products);
    EXPECT_EQ(sum.size, factor * products);
  }
}

TEST(ConvolutionOracle, SaysANaNWentInExactlyWhereOneDid) {
  const ConvTranspose3d p = parse_conv_transpose3d("n=1,ci=2,co=2,d=1,h=1,w=4,k=1,g=2");
  Tensors t = {std::vector<float>(8, 1.0F), {1.0F, 0.0F}, {0.0F, 0.0F}, {0.0F, 0.0F}};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  t.x[1] = nan;
  t.x[6] = std::numeric_limits<float>::infinity();  // times 0: NaN comes out, none went in
  std::vector<Expectation> expected(8);
  convolution().oracle(problem_of(p), t.spans())->expect(0, expected);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(expected[i].nan_input, i == 1) << i;
  EXPECT_TRUE(std::isnan(expected[6].value));
  t.b[1] = nan;
  convolution().oracle(problem_of(p), t.spans())->expect(0, expected);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(expected[i].nan_input, i == 1 || i >= 4) << i;
}

TEST(ConvolutionOracle, OfficialInputsAreThoseOfPyTorchsDefaultInitialisation) {
  const auto specs = convolution().tensors(convolution().parse_problem("official"));
  const auto bound = static_cast<float>(1.0 / std::sqrt(64.0 * 27.0));
  float largest = 0.0F;
  for (std::uint64_t i = 0; i < 55296; ++i) {
    const float value = input_value(specs[1].recipe, stream_of(3, specs[1].recipe), i, 55296);
    ASSERT_EQ(value, (2.0F * uniform(32, i) - 1.0F) * bound);
    largest = std::max(largest, std::abs(value));
  }
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.999F * bound);
  EXPECT_EQ(input_value(specs[3].recipe, stream_of(3, specs[3].recipe), 7, 64),
            4.0F * uniform(34, 7) - 2.0F);
}

TEST(ConvolutionOracle, EveryBatterysProblemsAndInputsAreWellFormed) {
  for (const Battery battery : {Battery::quick, Battery::full, Battery::exhaustive}) {
    for (const Problem& problem : convolution().awkward_problems(battery)) {
      EXPECT_EQ(convolution().parse_problem(problem.to_string()), problem);
    }
  }
  const std::size_t inputs = convolution().tensors(convolution().parse_problem("quick")).size() - 1;
  for (const InputSet& set : convolution().input_sets()) {
    EXPECT_EQ(set.recipes.size(), inputs) << set.name;
  }
}

// Sums of products of integers are exact in any order, as long as float32 holds the result.
TEST(ConvolutionOracle, IntegersStayExactOnEverySmallProblem) {
  for (const Problem& problem : convolution().small_problems()) {
    const ConvTranspose3d p = conv_transpose3d_of(problem);
    std::int64_t products = p.in_channels / p.groups;  // of one output: every stride-th tap
    for (std::size_t i = 0; i < 3; ++i) products *= (p.kernel[i] + p.stride[i] - 1) / p.stride[i];
    const double c = 4.0 * static_cast<double>(products) + 2.0;
    EXPECT_LT(2 * c * c + 3 * c, 0x1p24) << problem.to_string();
  }
}

}  // namespace
}  // namespace fusebench
