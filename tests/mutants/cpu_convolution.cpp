// Wrong convolutions, each wrong in the way that somebody writing a fast one is, and honest ones that sum in
// other orders. All share one plain loop and say what they do otherwise.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tests/mutants/statement.hpp"
#include "variants/conv_transpose3d_residual/cpu_variant.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

using Sizes = ConvolutionSizes;
using residual_epilogue::exact_order;

unsigned in_of_group(const Sizes& s) { return s.in_channels / s.groups; }
unsigned out_of_group(const Sizes& s) { return s.out_channels / s.groups; }

// An input and its row of weights, one for each output channel of the group; in the order of the taps, and
// of the input channels of each.
struct Product {
  float x;
  const float* w;
};
using Products = std::span<const Product>;
using Operand = float (*)(float);

float as_it_is(float value) { return value; }

void in_a_row(Products products, std::span<float> sums) {
  for (const Product& product : products) {
    for (std::size_t o = 0; o < sums.size(); ++o) sums[o] += product.x * product.w[o];
  }
}

std::size_t weight_at(const Sizes& s, unsigned group, unsigned in, unsigned out, unsigned tap) {
  const unsigned taps = s.kernel[0] * s.kernel[1] * s.kernel[2];
  return (std::size_t{group * in_of_group(s) + in} * out_of_group(s) + out) * taps + tap;
}

// The right way; a mutant does one thing of it otherwise.
struct Way {
  bool (*source)(const Sizes&, unsigned dimension, unsigned out, unsigned tap,
                 unsigned& in) = find_source;
  std::size_t (*weight)(const Sizes&, unsigned group, unsigned in, unsigned out,
                        unsigned tap) = weight_at;
  unsigned (*channel)(const Sizes&, unsigned group, unsigned in) =
      [](const Sizes& s, unsigned group, unsigned in) { return group * in_of_group(s) + in; };
  unsigned (*channels)(const Sizes&) = in_of_group;  // of a group
  std::int64_t (*item)(std::int64_t) = [](std::int64_t same) { return same; };
  bool multiplies_padding = false;
  bool keeps_weights = false;
  // What a product is made of: its operands, or several pairs of parts of them.
  std::vector<std::pair<Operand, Operand>> parts = {{as_it_is, as_it_is}};
  void (*sum)(Products, std::span<float> sums) = in_a_row;
  bool adds_conv_bias = true;
  unsigned (*b_of)(const Sizes&, unsigned) = [](const Sizes&, unsigned same) { return same; };
  float (*epilogue)(float c, float b) = exact_order;
  bool (*writes)(const Sizes&, const unsigned (&out)[3], std::size_t element) =
      [](const Sizes&, const unsigned (&)[3], std::size_t) { return true; };
  void (*before)(const ConvTranspose3d&, const CpuCall&) = [](const ConvTranspose3d&,
                                                              const CpuCall&) {};
};

class Loop {
 public:
  Loop(const ConvTranspose3d& parameters, const Way& way)
      : parameters_(parameters), s_(convolution_sizes(parameters)), way_(way) {}

  void run(const CpuCall& call) {
    way_.before(parameters_, call);
    if (!way_.keeps_weights || w_.empty()) pack(call.w);
    for (std::int64_t item = 0; item < parameters_.n; ++item) {
      for (unsigned group = 0; group < s_.groups; ++group) {
        unsigned out[3] = {};
        std::size_t position = 0;
        for (out[0] = 0; out[0] < s_.output[0]; ++out[0]) {
          for (out[1] = 0; out[1] < s_.output[1]; ++out[1]) {
            for (out[2] = 0; out[2] < s_.output[2]; ++out[2]) {
              collect(call.x, item, group, out);
              write(call, item, group, out, position++);
            }
          }
        }
      }
    }
  }

 private:
  // As [part][group][tap][in][out].
  void pack(const float* w) {
    w_.clear();
    for (const auto& part : way_.parts) {
      for (unsigned group = 0; group < s_.groups; ++group) {
        for (unsigned tap = 0; tap < taps(); ++tap) {
          for (unsigned in = 0; in < in_of_group(s_); ++in) {
            for (unsigned out = 0; out < out_of_group(s_); ++out) {
              w_.push_back(part.second(w[way_.weight(s_, group, in, out, tap)]));
            }
          }
        }
      }
    }
  }

  void collect(const float* x, std::int64_t item, unsigned group, const unsigned (&out)[3]) {
    products_.clear();
    unsigned in[3] = {};
    unsigned tap = 0;
    for (unsigned d = 0; d < s_.kernel[0]; ++d) {
      const bool deep = way_.source(s_, 0, out[0], d, in[0]);
      for (unsigned h = 0; h < s_.kernel[1]; ++h) {
        const bool high = deep && way_.source(s_, 1, out[1], h, in[1]);
        for (unsigned w = 0; w < s_.kernel[2]; ++w, ++tap) {
          const bool there = high && way_.source(s_, 2, out[2], w, in[2]);
          if (there || way_.multiplies_padding) add(there ? x : nullptr, item, group, in, tap);
        }
      }
    }
  }

  // A null `x` is all zeros.
  void add(const float* x, std::int64_t item, unsigned group, const unsigned (&in)[3],
           unsigned tap) {
    const std::size_t position = (std::size_t{in[0]} * s_.input[1] + in[1]) * s_.input[2] + in[2];
    const std::size_t positions = std::size_t{s_.input[0]} * s_.input[1] * s_.input[2];
    const auto first = static_cast<std::size_t>(way_.item(item)) * s_.in_channels;
    const std::size_t of_part = w_.size() / way_.parts.size();
    for (unsigned i = 0; i < way_.channels(s_); ++i) {
      const float value =
          x == nullptr ? 0.0F : x[(first + way_.channel(s_, group, i)) * positions + position];
      const std::size_t row = (std::size_t{group} * taps() + tap) * in_of_group(s_) + i;
      const float* weights = w_.data() + row * out_of_group(s_);
      for (const auto& part : way_.parts) {
        products_.push_back({part.first(value), weights});
        weights += of_part;
      }
    }
  }

  void write(const CpuCall& call, std::int64_t item, unsigned group, const unsigned (&out)[3],
             std::size_t position) {
    const unsigned count = out_of_group(s_);
    const float* const bias = way_.adds_conv_bias ? call.conv_bias : nullptr;
    sums_.assign(count, 0.0F);
    if (bias != nullptr) std::copy_n(bias + std::size_t{group} * count, count, sums_.begin());
    way_.sum(products_, sums_);
    const std::size_t positions = std::size_t{s_.output[0]} * s_.output[1] * s_.output[2];
    for (unsigned o = 0; o < count; ++o) {
      const unsigned channel = group * count + o;
      const std::size_t element =
          (static_cast<std::size_t>(item) * s_.out_channels + channel) * positions + position;
      if (!way_.writes(s_, out, element)) continue;
      call.y[element] = way_.epilogue(sums_[o], call.b[way_.b_of(s_, channel)]);
    }
  }

  [[nodiscard]] unsigned taps() const { return s_.kernel[0] * s_.kernel[1] * s_.kernel[2]; }

  ConvTranspose3d parameters_;
  Sizes s_;
  Way way_;
  std::vector<float> w_;
  std::vector<Product> products_;
  std::vector<float> sums_;
};

bool add(const std::string& name, const std::string& idea, const Way& way, Precision precision) {
  return add_cpu_variant(
      {.name = name,
       .idea = idea,
       .precision = precision,
       .plan = [way](const ConvTranspose3d& parameters, const Configuration&) -> CpuPlan {
         const auto loop = std::make_shared<Loop>(parameters, way);
         return {[loop](const CpuCall& call) { loop->run(call); }};
       }});
}

bool add_mutant(const std::string& name, const std::string& idea, const Way& way,
                Precision precision = Precision::float32) {
  return add("cpu_mutant_" + name, idea, way, precision);
}

bool add_honest(const std::string& name, const std::string& idea, const Way& way,
                Precision precision = Precision::float32) {
  return add("cpu_honest_" + name, honest(idea), way, precision);
}

// With the top `bits` bits of the fraction, to nearest; or truncated, as tensor cores read TF32.
float kept(float value, unsigned bits, bool to_nearest) {
  if (!std::isfinite(value)) return value;
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  const unsigned drop = 23U - bits;
  if (to_nearest) word += (1U << (drop - 1U)) - 1U + (word >> drop & 1U);
  word &= ~((1U << drop) - 1U);
  std::memcpy(&value, &word, sizeof word);
  return value;
}

float flushed(float value) {
  return std::abs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0F, value) : value;
}
float as_tf32(float value) { return kept(value, 10, false); }
float as_bf16(float value) { return kept(value, 7, true); }
float rest_of_bf16(float value) { return as_bf16(value - as_bf16(value)); }

void in_half_precision(Products products, std::span<float> sums) {
  for (const Product& product : products) {
    for (std::size_t o = 0; o < sums.size(); ++o) {
      sums[o] = static_cast<float>(static_cast<_Float16>(sums[o] + product.x * product.w[o]));
    }
  }
}

float sum_of_halves(Products products, std::size_t o) {
  if (products.empty()) return 0.0F;
  if (products.size() == 1) return products[0].x * products[0].w[o];
  const std::size_t half = products.size() / 2;
  return sum_of_halves(products.first(half), o) + sum_of_halves(products.subspan(half), o);
}

// The output rows that output_padding adds.
bool is_added(const Sizes& s, unsigned dimension, unsigned out) {
  return out + 2 * s.padding[dimension] > (s.input[dimension] - 1) * s.stride[dimension] +
                                              s.dilation[dimension] * (s.kernel[dimension] - 1);
}

bool is_doubling(const Sizes& s) {
  return std::all_of(s.kernel, s.kernel + 3, [](unsigned k) { return k == 3; }) &&
         std::all_of(s.stride, s.stride + 3, [](unsigned stride) { return stride == 2; }) &&
         std::all_of(s.dilation, s.dilation + 3, [](unsigned dilation) { return dilation == 1; });
}

const bool taps =
    add_mutant(
        "flipped_taps", must_be(11, "wrong", "elements wrong"),
        {.source =
             [](const Sizes& s, unsigned dimension, unsigned out, unsigned tap, unsigned& in) {
               return find_source(s, dimension, out, s.kernel[dimension] - 1 - tap, in);
             }}) &&
    add_mutant(
        "border_clamped", must_be(16, "wrong", "elements wrong"),
        {.source =
             [](const Sizes& s, unsigned dimension, unsigned out, unsigned tap, unsigned& in) {
               if (find_source(s, dimension, out, tap, in)) return true;
               const unsigned reach = tap * s.dilation[dimension];
               const unsigned shifted = out + s.padding[dimension];
               if (shifted < reach || (shifted - reach) % s.stride[dimension] != 0) return false;
               in = s.input[dimension] - 1;
               return true;
             }}) &&
    add_mutant("zeros_skipped", must_be(30, "wrong", "inputs: (NaN among|special values in) w"),
               {.sum =
                    [](Products products, std::span<float> sums) {
                      for (const Product& product : products) {
                        if (product.x != 0.0F) in_a_row({&product, 1}, sums);
                      }
                    }}) &&
    add_mutant("zero_weights_skipped",
               must_be(30, "wrong", "inputs: (NaN among|special values in) x"),
               {.sum =
                    [](Products products, std::span<float> sums) {
                      for (const Product& product : products) {
                        for (std::size_t o = 0; o < sums.size(); ++o) {
                          if (product.w[o] != 0.0F) sums[o] += product.x * product.w[o];
                        }
                      }
                    }}) &&
    add_mutant(
        "added_rows_only_bias", must_be(16, "wrong", "elements wrong"),
        {.source =
             [](const Sizes& s, unsigned dimension, unsigned out, unsigned tap, unsigned& in) {
               return !is_added(s, dimension, out) && find_source(s, dimension, out, tap, in);
             }}) &&
    add_mutant("added_rows_unwritten", must_be(16, "wrong", "never written"),
               {.writes = [](const Sizes& s, const unsigned (&out)[3], std::size_t) {
                 return !is_added(s, 0, out[0]) && !is_added(s, 1, out[1]) &&
                        !is_added(s, 2, out[2]);
               }});

const bool parameters =
    add_mutant(
        "dilation_ignored", must_be(16, "wrong", "dil=2.*elements wrong"),
        {.source =
             [](const Sizes& s, unsigned dimension, unsigned out, unsigned tap, unsigned& in) {
               Sizes close = s;
               close.dilation[dimension] = 1;
               return find_source(close, dimension, out, tap, in);
             }}) &&
    add_mutant(
        "height_strides_like_width", must_be(16, "wrong", "sh=2,sw=3.*elements wrong"),
        {.source =
             [](const Sizes& s, unsigned dimension, unsigned out, unsigned tap, unsigned& in) {
               Sizes square = s;
               square.stride[1] = square.stride[2];
               return find_source(square, dimension, out, tap, in);
             }}) &&
    add_mutant("claims_every_kernel", must_be(16, "wrong", "k=2,s=2.*never written"),
               {.writes = [](const Sizes& s, const unsigned (&)[3],
                             std::size_t) { return is_doubling(s); }}) &&
    add_mutant("groups_interleaved", must_be(11, "wrong", "g=2.*elements wrong"),
               {.channel = [](const Sizes& s, unsigned group,
                              unsigned in) { return in * s.groups + group; }}) &&
    add_mutant("weights_out_by_in", must_be(11, "wrong", "ci=4,co=6.*elements wrong"),
               {.weight =
                    [](const Sizes& s, unsigned group, unsigned in, unsigned out, unsigned tap) {
                      const unsigned count = s.kernel[0] * s.kernel[1] * s.kernel[2];
                      const std::size_t row = std::size_t{out} * s.in_channels;
                      return (row + group * in_of_group(s) + in) * count + tap;
                    }}) &&
    add_mutant("odd_channel_dropped", must_be(16, "wrong", "ci=5.*elements wrong"),
               {.channels =
                    [](const Sizes& s) {
                      const unsigned channels = in_of_group(s);
                      return channels == 1 ? 1 : channels / 2 * 2;
                    }}) &&
    add_mutant("first_item_always", must_be(16, "wrong", "n=2.*elements wrong"),
               {.item = [](std::int64_t) { return std::int64_t{0}; }}) &&
    add_mutant("output_index_of_16_bits", must_be(17, "wrong", "never written"),
               {.writes = [](const Sizes&, const unsigned (&)[3], std::size_t element) {
                 return element < 65'536;
               }});

const bool biases =
    add_mutant("without_conv_bias", must_be(11, "wrong", "elements wrong"),
               {.adds_conv_bias = false}) &&
    add_mutant("next_channel_b", must_be(11, "wrong", "elements wrong"),
               {.b_of = [](const Sizes& s,
                           unsigned channel) { return (channel + 1) % s.out_channels; }}) &&
    add_mutant("b_twice", must_be(11, "wrong", "elements wrong"),
               {.epilogue = [](float c, float b) { return exact_order(c, b) + b; }}) &&
    add_mutant("absent_bias_read", must_be(13, "crashed", "signal 11.*bias=0"),
               {.before =
                    [](const ConvTranspose3d&, const CpuCall& call) {
                      (void)*static_cast<const volatile float*>(call.conv_bias);
                    }}) &&
    add_mutant("reads_past_weights", must_be(13, "crashed", "touched 1 bytes past the end of w"),
               {.before =
                    [](const ConvTranspose3d& p, const CpuCall& call) {
                      const std::int64_t end =
                          p.in_channels * (p.out_channels / p.groups) * p.taps();
                      (void)*static_cast<const volatile float*>(call.w + end);
                    }}) &&
    add_mutant("stale_weights", must_be(12, "wrong", "after input w was changed in place"),
               {.keeps_weights = true});

const bool precision =
    add_mutant("tf32_operands", must_be(29, "wrong", "elements wrong"),
               {.parts = {{as_tf32, as_tf32}}}) &&
    add_mutant("bf16_operands", must_be(29, "wrong", "elements wrong"),
               {.parts = {{as_bf16, as_bf16}}}) &&
    add_mutant("bf16_as_tf32", must_be(29, "wrong", "elements wrong"),
               {.parts = {{as_bf16, as_bf16}}}, Precision::tf32) &&
    add_mutant("bf16_twice_as_bf16x3", must_be(29, "wrong", "elements wrong"),
               {.parts = {{as_bf16, as_bf16}, {as_bf16, rest_of_bf16}}}, Precision::bf16x3) &&
    add_mutant("bf16x3_as_float32", must_be(29, "wrong", "elements wrong"),
               {.parts = {{as_bf16, as_bf16}, {as_bf16, rest_of_bf16}, {rest_of_bf16, as_bf16}}}) &&
    add_mutant("subnormals_vanish", must_be(37, "wrong", "inputs: subnormal"),
               {.parts = {{flushed, flushed}}}) &&
    add_mutant("fp16_sums", must_be(29, "wrong", "elements wrong"), {.sum = in_half_precision}) &&
    add_mutant("bf16_between", must_be(29, "wrong", "elements wrong"),
               {.epilogue = [](float c, float b) { return exact_order(as_bf16(c), b); }});

const bool orders =
    add_honest("sums_backwards", "the last product first",
               {.sum =
                    [](Products products, std::span<float> sums) {
                      for (std::size_t p = products.size(); p-- > 0;) {
                        in_a_row(products.subspan(p, 1), sums);
                      }
                    }}) &&
    add_honest("sums_of_halves", "sums of halves of the products, and of halves of those",
               {.sum =
                    [](Products products, std::span<float> sums) {
                      for (std::size_t o = 0; o < sums.size(); ++o) {
                        sums[o] += sum_of_halves(products, o);
                      }
                    }}) &&
    add_honest("padding_multiplied", "zeros where an input is absent, with every weight",
               {.multiplies_padding = true}) &&
    add_honest("convolution_factored", "the epilogue as c (2c + (b + 1))",
               {.epilogue = [](float c, float b) { return c * (2.0F * c + (b + 1.0F)); }}) &&
    add_honest("bf16x3_by_hand", "each operand as two bf16, three products",
               {.parts = {{as_bf16, as_bf16}, {as_bf16, rest_of_bf16}, {rest_of_bf16, as_bf16}}},
               Precision::bf16x3);

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
