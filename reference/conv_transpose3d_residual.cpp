// The oracle, the problems and the inputs of conv_transpose3d_residual.
#include "reference/conv_transpose3d_residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "reference/convolve_range.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

constexpr const char* official = "n=16,ci=32,co=64,d=16,h=32,w=32,k=3,s=2,p=1,op=1";
constexpr const char* all_different =
    "n=1,ci=4,co=6,d=3,h=3,w=5,kd=2,kh=3,kw=4,sd=1,sh=2,sw=3,ph=1,pw=2,oph=1,opw=2";
constexpr const char* quick = "n=1,ci=32,co=64,d=8,h=16,w=16,k=3,s=2,p=1,op=1";

class ConvolutionOracle final : public Oracle {
 public:
  ConvolutionOracle(const ConvTranspose3d& parameters,
                    std::span<const std::span<const float>> inputs)
      : sizes_(convolution_sizes(parameters)),
        positions_(parameters.output_positions()),
        x_(inputs[tensor_x].data()),
        w_(inputs[tensor_w].data()),
        bias_(parameters.bias ? inputs[tensor_conv_bias].data() : nullptr),
        b_(inputs[tensor_b]) {
    for (unsigned channel = 0; channel < sizes_.out_channels; ++channel) {
      nonfinite_weight_.push_back(has_nonfinite_weight(sizes_, w_, channel));
    }
  }

  void expect(std::int64_t first, std::span<Expectation> out) const override {
    std::vector<ConvolutionSum> sums(out.size());
    convolve_range(sizes_, x_, w_, bias_, static_cast<unsigned long long>(first), sums);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::int64_t element = first + static_cast<std::int64_t>(i);
      const auto channel = static_cast<std::size_t>(element / positions_ % sizes_.out_channels);
      out[i] = expectation(sums[i], b_[channel], nonfinite_weight_[channel]);
    }
  }

 private:
  ConvolutionSizes sizes_;
  std::int64_t positions_;
  const float* x_;
  const float* w_;
  const float* bias_;
  std::span<const float> b_;
  std::vector<bool> nonfinite_weight_;  // of each output channel
};

// Pairs of an input's position and a tap whose product falls inside of the output.
double products_of_dimension(const ConvTranspose3d& p, std::size_t i) {
  const std::int64_t last = p.output()[i] - 1;
  double pairs = 0.0;
  for (std::int64_t tap = 0; tap < p.kernel[i]; ++tap) {
    // 0 <= position * stride + shift <= last
    const std::int64_t shift = tap * p.dilation[i] - p.padding[i];
    const std::int64_t first = shift >= 0 ? 0 : (-shift + p.stride[i] - 1) / p.stride[i];
    const std::int64_t end =
        shift > last ? 0 : std::min(p.input[i], (last - shift) / p.stride[i] + 1);
    pairs += static_cast<double>(std::max<std::int64_t>(0, end - first));
  }
  return pairs;
}

std::vector<Problem> parsed(std::initializer_list<const char*> texts) {
  std::vector<Problem> problems;
  for (const char* text : texts) problems.push_back(problem_of(parse_conv_transpose3d(text)));
  return problems;
}

// Of kernel 3, stride 2, padding 1 and output padding 1, which more variants can do than anything else.
std::vector<Problem> doubling(std::initializer_list<const char*> texts) {
  std::vector<Problem> problems;
  for (const char* text : texts) {
    const std::string full = std::string(text) + ",k=3,s=2,p=1,op=1";
    problems.push_back(problem_of(parse_conv_transpose3d(full)));
  }
  return problems;
}

std::vector<Problem> joined(std::vector<Problem> a, std::vector<Problem> b) {
  for (Problem& problem : b) a.push_back(std::move(problem));
  return a;
}

InputRecipe from(unsigned long long stream, Draw draw, float scale = 1.0F, float offset = 0.0F) {
  return {.stream = stream, .scale = scale, .offset = offset, .draw = draw};
}

InputRecipe sprinkled(InputRecipe recipe, float value) {
  recipe.sprinkled = true;
  recipe.sprinkle = value;
  return recipe;
}

class ConvTranspose3dResidual final : public Operator {
 public:
  std::string_view name() const override { return operator_name; }
  std::string_view summary() const override {
    return "c = ConvTranspose3d(x, w) + conv_bias, y = ((c + b) + c) * c + c, b of shape "
           "[co,1,1,1]";
  }
  std::string_view problem_help() const override {
    return "n=,ci=,co=,d=,h=,w= (batch, channels, the input's extents), k= (kernel) and, as in "
           "PyTorch, s=1 (stride), p=0 (padding), op=0 (output padding), dil=1 (dilation), g=1 "
           "(groups), bias=1; k, s, p, op and dil with d, h or w behind them for one dimension";
  }

  Problem parse_problem(std::string_view text) const override {
    if (text == "official") text = official;
    if (text == "quick") text = quick;
    Problem problem = problem_of(parse_conv_transpose3d(text));
    for (const TensorSpec& spec : tensors(problem)) (void)element_count(spec.shape);
    return problem;
  }

  std::vector<Problem> awkward_problems(Battery battery) const override {
    switch (battery) {
      case Battery::timed: break;
      case Battery::quick:
        return joined(doubling({"n=1,ci=1,co=1,d=1,h=1,w=1", "n=2,ci=4,co=6,d=3,h=4,w=5",
                                "n=2,ci=5,co=7,d=3,h=3,w=3", "n=2,ci=4,co=6,d=3,h=3,w=3,g=2",
                                "n=1,ci=16,co=64,d=1,h=1,w=1", "n=1,ci=32,co=64,d=2,h=3,w=33",
                                "n=2,ci=48,co=128,d=1,h=5,w=17", "n=3,ci=16,co=24,d=2,h=2,w=32",
                                "n=2,ci=33,co=8,d=2,h=2,w=5", "n=1,ci=64,co=24,d=2,h=3,w=7",
                                "n=1,ci=65,co=64,d=1,h=4,w=32", "n=1,ci=97,co=70,d=2,h=3,w=3",
                                "n=2,ci=32,co=64,d=3,h=5,w=4"}),
                      parsed({"n=1,ci=8,co=4,d=2,h=3,w=4,k=2,s=2", "n=1,ci=3,co=5,d=4,h=4,w=4,k=3",
                              "n=2,ci=3,co=2,d=3,h=2,w=5,k=1", all_different,
                              "n=1,ci=4,co=6,d=3,h=4,w=3,k=3,s=2,p=2,op=1,dil=2,g=2,bias=0"}));
      case Battery::full:
        return joined(
            doubling({"n=1,ci=32,co=64,d=16,h=32,w=32", "n=129,ci=2,co=3,d=1,h=2,w=3",
                      "n=257,ci=16,co=8,d=1,h=1,w=2", "n=1,ci=64,co=65,d=3,h=2,w=9",
                      "n=1,ci=32,co=64,d=2,h=31,w=31", "n=1,ci=32,co=64,d=5,h=2,w=64",
                      "n=1,ci=32,co=64,d=3,h=7,w=65", "n=5,ci=17,co=63,d=2,h=3,w=15",
                      "n=1,ci=128,co=256,d=2,h=4,w=8", "n=3,ci=100,co=64,d=4,h=4,w=32",
                      "n=1,ci=1,co=1,d=1,h=1,w=1,bias=0", "n=1,ci=32,co=64,d=2,h=3,w=7,bias=0",
                      "n=2,ci=32,co=64,d=2,h=3,w=7,g=4"}),
            parsed(
                {"n=1,ci=5,co=4,d=3,h=4,w=5,k=4,s=2,p=1",
                 "n=1,ci=3,co=4,d=3,h=2,w=4,k=5,s=2,p=2,op=1",
                 "n=1,ci=16,co=64,d=4,h=4,w=8,k=4,s=2,p=1", "n=1,ci=16,co=64,d=3,h=4,w=8,k=2,s=2",
                 "n=1,ci=4,co=4,d=2,h=3,w=2,k=3,s=3,p=1,op=2",
                 "n=1,ci=4,co=4,d=4,h=3,w=5,k=3,p=1,dil=3,op=2",
                 "n=1,ci=6,co=6,d=3,h=3,w=3,k=3,p=1,g=6",
                 "n=2,ci=3,co=5,d=2,h=2,w=33,kd=1,kh=1,kw=5,sd=1,sh=1,sw=2,pw=2",
                 "n=1,ci=2,co=2,d=5,h=1,w=1,kd=5,kh=1,kw=1,sd=4,pd=3",
                 "n=1,ci=2,co=2,d=2,h=2,w=2,k=1,s=3,op=2", "n=65537,ci=1,co=1,d=1,h=1,w=1,k=1"}));
      case Battery::exhaustive:
        return doubling({"n=129,ci=32,co=64,d=16,h=32,w=32", "n=257,ci=32,co=64,d=16,h=32,w=32",
                         "n=1,ci=32,co=64,d=1,h=1,w=65537", "n=1,ci=32,co=64,d=65537,h=1,w=1",
                         "n=1,ci=1024,co=1024,d=1,h=2,w=3"});
    }
    return {};
  }

  // The first suits nearly every variant, so that each meets all inputs and all placements.
  std::vector<Problem> small_problems() const override {
    return joined(
        doubling({"n=2,ci=16,co=64,d=2,h=3,w=9", "n=1,ci=32,co=64,d=2,h=2,w=32",
                  "n=2,ci=5,co=7,d=3,h=3,w=3", "n=1,ci=1,co=24,d=9,h=8,w=8",
                  "n=1,ci=66,co=8,d=2,h=3,w=5", "n=1,ci=1,co=4,d=192,h=8,w=8",
                  "n=1,ci=1,co=4,d=96,h=8,w=9", "n=1,ci=33,co=4,d=96,h=8,w=8"}),
        parsed({"n=1,ci=4,co=6,d=3,h=3,w=5,kd=2,kh=3,kw=4,sd=1,sh=2,sw=3,ph=1,pw=2,oph=1"}));
  }

  std::vector<InputSet> input_sets() const override;

  std::vector<TensorSpec> tensors(const Problem& problem) const override {
    const ConvTranspose3d p = conv_transpose3d_of(problem);
    const PerDimension out = p.output();
    // PyTorch's default initialisation: uniform in +-1 / sqrt(fan-in), of the weight as it is stored.
    const std::int64_t fan_in = p.out_channels / p.groups * p.taps();
    const auto bound = static_cast<float>(1.0 / std::sqrt(static_cast<double>(fan_in)));
    const InputRecipe initial = {.scale = 2.0F, .offset = -1.0F, .factor = bound};
    InputRecipe of_w = initial;
    of_w.stream = 2;
    InputRecipe of_conv_bias = initial;
    of_conv_bias.stream = 3;
    return {
        {"x",
         {p.n, p.in_channels, p.input[0], p.input[1], p.input[2]},
         TensorRole::input,
         {.stream = 1}},
        {"w",
         {p.in_channels, p.out_channels / p.groups, p.kernel[0], p.kernel[1], p.kernel[2]},
         TensorRole::input,
         of_w},
        {"conv_bias", {p.bias ? p.out_channels : 0}, TensorRole::input, of_conv_bias},
        {"b", {p.out_channels, 1, 1, 1}, TensorRole::input, from(4, Draw::uniform, 4.0F, -2.0F)},
        {"y", {p.n, p.out_channels, out[0], out[1], out[2]}, TensorRole::output, {}}};
  }

  std::int64_t useful_bytes(const Problem& problem) const override {
    std::int64_t elements = 0;
    for (const TensorSpec& spec : tensors(problem)) elements += element_count(spec.shape);
    return elements * static_cast<std::int64_t>(sizeof(float));
  }

  // Two for each product, of those that reach the output, and four for each output.
  std::int64_t flops(const Problem& problem) const override {
    const ConvTranspose3d p = conv_transpose3d_of(problem);
    // In floating point: the sizes of what nobody could run must not overflow.
    const std::int64_t outputs_an_input = p.out_channels / p.groups;
    double products =
        static_cast<double>(p.n * p.in_channels) * static_cast<double>(outputs_an_input);
    for (std::size_t i = 0; i < 3; ++i) products *= products_of_dimension(p, i);
    const double all = 2.0 * products + 4.0 * static_cast<double>(p.output_elements());
    return static_cast<std::int64_t>(std::min(all, 0x1p62));
  }

  std::unique_ptr<Oracle> oracle(const Problem& problem,
                                 std::span<const std::span<const float>> inputs) const override {
    return std::make_unique<ConvolutionOracle>(conv_transpose3d_of(problem), inputs);
  }

  std::string device_oracle() const override {
    return "reference/conv_transpose3d_residual_oracle.hd.hpp";
  }
  // Making an input again for each of the hundreds of products that it is in would take minutes.
  bool device_oracle_reads_inputs() const override { return true; }
  std::vector<std::int64_t> device_oracle_sizes(const Problem& problem) const override {
    const ConvTranspose3d p = conv_transpose3d_of(problem);
    std::vector<std::int64_t> sizes = {p.in_channels, p.out_channels, p.groups};
    for (const PerDimension& triple :
         {p.input, p.output(), p.kernel, p.stride, p.padding, p.dilation}) {
      sizes.insert(sizes.end(), triple.begin(), triple.end());
    }
    sizes.push_back(p.bias ? 1 : 0);
    return sizes;
  }

  // What vanishes is counted by the operands that there are, so no bound on them enters; but rounding the largest
  // floats may overflow.
  OperandFormat format_of(Precision precision) const noexcept override {
    OperandFormat format = operand_format(precision);
    if (format.relative != 0.0 && precision != Precision::fp16) format.most = 0x1p+126;
    return format;
  }

  // docs/verification.md derives it. 32 u K is what float32 sums in any order may lose; the format's part
  // is that of a sum of products. Products that underflow are in K already; operands that do, and those
  // that tensor cores take for 0 in the smaller formats, count by themselves.
  ErrorBound bound(Precision precision) const override {
    if (precision == Precision::exact_order) {
      throw Error("operator {}: no order of the convolution's sum is the exact one", operator_name);
    }
    const OperandFormat format = operand_format(precision);
    // float32 may be three products of TF32 halves, of which none holds less than 2^-136.
    const double flush = format.relative == 0.0 ? 0x1p-136 : std::max(format.absolute, 0x1p-126);
    return {format.relative + 32 * 0x1p-24, 0x1p-146, flush};
  }
};

std::vector<InputSet> ConvTranspose3dResidual::input_sets() const {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const InputRecipe x = from(1, Draw::uniform);
  const InputRecipe w = from(2, Draw::normal, 0.03F);
  const InputRecipe conv_bias = from(3, Draw::normal, 0.03F);
  const InputRecipe b = from(4, Draw::uniform, 4.0F, -2.0F);
  std::vector<InputSet> sets;
  const auto add = [&](std::string set, InputRecipe of_x, InputRecipe of_w,
                       InputRecipe of_conv_bias, InputRecipe of_b) {
    sets.push_back({std::move(set), {of_x, of_w, of_conv_bias, of_b}});
  };
  for (const float scale : {1e-3F, 1.0F, 10.0F, 100.0F}) {
    add(fmt::format("normal at scale {:g}", scale), from(1, Draw::normal, scale),
        from(2, Draw::normal, scale), from(3, Draw::normal, scale), from(4, Draw::normal, scale));
  }
  add("x at 1e30, w at 1e-30", from(1, Draw::normal, 1e30F), from(2, Draw::normal, 1e-30F),
      conv_bias, b);
  add("x at 1e-30, w at 1e30", from(1, Draw::normal, 1e-30F), from(2, Draw::normal, 1e30F),
      conv_bias, b);
  sets.push_back({"integers",
                  {from(1, Draw::integer), from(2, Draw::integer), from(3, Draw::integer),
                   from(4, Draw::integer)},
                  /*exact_values=*/true});
  add("1 + k 2^-12", from(1, Draw::near_one), from(2, Draw::near_one), conv_bias, b);
  add("sums that cancel", from(1, Draw::near_one), w, conv_bias, b);
  // With 16 input channels one tap's products and the bias come to 0, though the square of either overflows.
  add("sums that cancel a huge bias", from(1, Draw::constant, 1.0F),
      from(2, Draw::constant, -0x1p61F), from(3, Draw::constant, 0x1p65F), b);
  // 4c + b + 1 is nearly 0.
  add("slope that cancels", from(1, Draw::normal, 0x1p-18F), w,
      from(3, Draw::normal, 0x1p-18F, 0.375F), from(4, Draw::constant, -2.5F));
  add("wide magnitudes in x", from(1, Draw::wide), w, conv_bias, b);
  add("wide magnitudes in w", x, from(2, Draw::wide), conv_bias, b);
  // Where a plane is 64 positions, each of one channel has a power of two of its own.
  add("bands of magnitudes in x", from(1, Draw::banded), w, from(3, Draw::banded), b);
  add("special values in x", from(1, Draw::special), w, conv_bias, b);
  add("special values in w", x, from(2, Draw::special), conv_bias, b);
  add("special values in the biases", x, w, from(3, Draw::special), from(4, Draw::special));
  add("subnormal x", from(1, Draw::subnormal), w, from(3, Draw::subnormal), b);
  add("subnormal w", x, from(2, Draw::subnormal), from(3, Draw::constant, 0.0F), b);
  add("tiny x", from(1, Draw::normal, 1e-30F), w, from(3, Draw::normal, 1e-30F), b);
  add("large x", from(1, Draw::normal, 1e12F), w, conv_bias, b);
  add("zeros", from(1, Draw::constant, 0.0F), w, from(3, Draw::constant, 0.0F), b);
  add("negative zeros", from(1, Draw::constant, -0.0F, -0.0F), w,
      from(3, Draw::constant, -0.0F, -0.0F), from(4, Draw::constant, 0.0F));
  // Of which sums are exact: equal terms would be rounded alike, and their errors not cancel.
  add("constants", from(1, Draw::constant, 0.75F), from(2, Draw::constant, -0.25F),
      from(3, Draw::constant, 0.125F), from(4, Draw::constant, -0.3F));
  // Zero times what is not finite is NaN: the other operand's zeros may not be skipped.
  add("NaN among x", sprinkled(x, nan), from(2, Draw::integer), conv_bias, b);
  add("+Inf among x", sprinkled(x, infinity), w, conv_bias, b);
  add("-Inf among x", sprinkled(x, -infinity), w, conv_bias, b);
  add("NaN among w", from(1, Draw::integer), sprinkled(w, nan), conv_bias, b);
  add("Inf among w", x, sprinkled(w, infinity), conv_bias, b);
  add("NaN among conv_bias", x, w, sprinkled(conv_bias, nan), b);
  add("NaN among b", x, w, conv_bias, sprinkled(b, nan));
  add("Inf among b", x, w, conv_bias, sprinkled(b, infinity));
  add("overflow", from(1, Draw::normal, 1e19F), from(2, Draw::normal, 1e19F), conv_bias, b);
  return sets;
}

const bool registered = registry().add(std::make_unique<ConvTranspose3dResidual>());

}  // namespace

ConvolutionSizes convolution_sizes(const ConvTranspose3d& p) {
  ConvolutionSizes sizes{};
  sizes.in_channels = static_cast<unsigned>(p.in_channels);
  sizes.out_channels = static_cast<unsigned>(p.out_channels);
  sizes.groups = static_cast<unsigned>(p.groups);
  const PerDimension output = p.output();
  for (std::size_t i = 0; i < 3; ++i) {
    sizes.input[i] = static_cast<unsigned>(p.input[i]);
    sizes.output[i] = static_cast<unsigned>(output[i]);
    sizes.kernel[i] = static_cast<unsigned>(p.kernel[i]);
    sizes.stride[i] = static_cast<unsigned>(p.stride[i]);
    sizes.padding[i] = static_cast<unsigned>(p.padding[i]);
    sizes.dilation[i] = static_cast<unsigned>(p.dilation[i]);
  }
  return sizes;
}

}  // namespace fusebench::conv_transpose3d_residual
