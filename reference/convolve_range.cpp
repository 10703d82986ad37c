#include "reference/convolve_range.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

// The same arithmetic in wider vectors where there are some; contraction stays off.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FUSEBENCH_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define FUSEBENCH_CLONES
#endif

namespace fusebench {
namespace {

// One weight on the inputs of a row, `count` neighbours of them.
FUSEBENCH_CLONES void add_products(const float* from, float weight, double* value, double* size,
                                   double* operands, std::int64_t count) {
  const double q = weight;
  const double q_size = q < 0.0 ? -q : q;
  for (std::int64_t i = 0; i < count; ++i) {
    const double p = from[i];
    value[i] += p * q;
    const double p_size = p < 0.0 ? -p : p;
    size[i] += p_size * q_size;
    operands[i] += p_size + q_size;
  }
}

// Outputs of one row that are a stride apart: they take the same taps, from neighbouring inputs.
class Neighbours {
 public:
  Neighbours(const ConvolutionSizes& s, const float* x, const float* w, const float* bias)
      : s_(s), x_(x), w_(w), bias_(bias) {}

  // Outputs first, first + stride, ...: every stride-th of `out`, whose first element is output `first`.
  void convolve(std::uint64_t first, std::span<ConvolutionSum> out);

 private:
  const ConvolutionSizes& s_;
  const float* x_;
  const float* w_;
  const float* bias_;
  std::uint64_t positions_ = std::uint64_t{s_.input[0]} * s_.input[1] * s_.input[2];
  std::vector<double> value_, size_, operands_;
  std::vector<std::uint64_t> products_;
};

void Neighbours::convolve(std::uint64_t first, std::span<ConvolutionSum> out) {
  const std::uint64_t row = first / s_.output[2];
  const auto out_w = static_cast<unsigned>(first % s_.output[2]);
  const auto out_h = static_cast<unsigned>(row % s_.output[1]);
  const std::uint64_t plane = row / s_.output[1];
  const auto out_d = static_cast<unsigned>(plane % s_.output[0]);
  const std::uint64_t volume = plane / s_.output[0];
  const auto channel = static_cast<unsigned>(volume % s_.out_channels);
  const unsigned out_of_group = s_.out_channels / s_.groups;
  const unsigned in_of_group = s_.in_channels / s_.groups;
  const std::uint64_t first_in = std::uint64_t{channel / out_of_group} * in_of_group;
  const std::uint64_t taps = std::uint64_t{s_.kernel[0]} * s_.kernel[1] * s_.kernel[2];
  const float* const x_item =
      x_ + (volume / s_.out_channels * s_.in_channels + first_in) * positions_;
  const float* const w_channel = w_ + (first_in * out_of_group + channel % out_of_group) * taps;

  const double start = bias_ == nullptr ? 0.0 : static_cast<double>(bias_[channel]);
  const std::size_t count = (out.size() + s_.stride[2] - 1) / s_.stride[2];
  value_.assign(count, start);
  size_.assign(count, start < 0.0 ? -start : start);
  operands_.assign(count, start != start ? start : 0.0);
  products_.assign(count, 0);
  unsigned in_d = 0;
  unsigned in_h = 0;
  for (unsigned kd = 0; kd < s_.kernel[0]; ++kd) {
    if (!find_source(s_, 0, out_d, kd, in_d)) continue;
    for (unsigned kh = 0; kh < s_.kernel[1]; ++kh) {
      if (!find_source(s_, 1, out_h, kh, in_h)) continue;
      for (unsigned kw = 0; kw < s_.kernel[2]; ++kw) {
        const std::int64_t reach =
            std::int64_t{out_w} + s_.padding[2] - std::int64_t{kw} * s_.dilation[2];
        if (reach % s_.stride[2] != 0) continue;
        const std::int64_t in_w = reach / s_.stride[2];  // of the first; the next has the next
        const std::int64_t begin = std::max<std::int64_t>(0, -in_w);
        const std::int64_t end =
            std::min(static_cast<std::int64_t>(count), std::int64_t{s_.input[2]} - in_w);
        if (begin >= end) continue;
        const float* from = x_item + (std::uint64_t{in_d} * s_.input[1] + in_h) * s_.input[2] +
                            static_cast<std::uint64_t>(in_w + begin);
        const float* by = w_channel + (std::uint64_t{kd} * s_.kernel[1] + kh) * s_.kernel[2] + kw;
        for (std::int64_t i = begin; i < end; ++i) {
          products_[static_cast<std::size_t>(i)] += in_of_group;
        }
        for (unsigned c = 0; c < in_of_group; ++c) {
          add_products(from, *by, value_.data() + begin, size_.data() + begin,
                       operands_.data() + begin, end - begin);
          from += positions_;
          by += out_of_group * taps;
        }
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    out[i * s_.stride[2]] = {value_[i], grown(size_[i], products_[i]), operands_[i]};
  }
}

}  // namespace

void convolve_range(const ConvolutionSizes& s, const float* x, const float* w, const float* bias,
                    unsigned long long first, std::span<ConvolutionSum> out) {
  Neighbours neighbours(s, x, w, bias);
  while (!out.empty()) {
    const auto row = static_cast<std::size_t>(
        std::min<std::uint64_t>(out.size(), s.output[2] - first % s.output[2]));
    for (std::size_t i = 0; i < std::min<std::size_t>(row, s.stride[2]); ++i) {
      neighbours.convolve(first + i, out.first(row).subspan(i));
    }
    out = out.subspan(row);
    first += row;
  }
}

}  // namespace fusebench
