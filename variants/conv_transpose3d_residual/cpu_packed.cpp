#include "variants/conv_transpose3d_residual/cpu_packed.hpp"

#include <algorithm>
#include <cstring>

namespace fusebench::conv_transpose3d_residual {

PackedInput::PackedInput(const ConvTranspose3d& sizes, const std::vector<Phase>& widths,
                         std::int64_t lanes)
    : planes_(sizes.input[0] * sizes.input[1]),
      width_(sizes.input[2]),
      channels_(sizes.in_channels / sizes.groups),
      rows_(sizes.n * sizes.groups * planes_) {
  std::int64_t behind = 0;
  for (const Phase& width : widths) {
    const std::int64_t end = (width.count + lanes - 1) / lanes * lanes;
    for (const PhaseTap& tap : width.taps) {
      halo_ = std::max(halo_, std::min(-tap.shift, lanes - 1));
      behind = std::max(behind, std::min(end + tap.shift - width_, lanes - 1));
    }
  }
  step_ = (halo_ + width_ + behind + lanes - 1) / lanes * lanes;
  packed_.resize(static_cast<std::size_t>(rows_ * channels_ * step_));
}

void PackedInput::pack(const float* x, std::int64_t row) {
  const std::int64_t volume = planes_ * width_;
  // Groups of an item follow one another, as do items.
  const float* from = x + row / planes_ * channels_ * volume + row % planes_ * width_;
  float* to = packed_.data() + row * channels_ * step_ + halo_;
  for (std::int64_t c = 0; c < channels_; ++c) {
    std::memcpy(to, from, static_cast<std::size_t>(width_) * sizeof(float));
    to += step_;
    from += volume;
  }
}

PackedWeights::PackedWeights(const ConvTranspose3d& sizes, std::int64_t channels_of_a_block)
    : channels_(channels_of_a_block),
      in_of_group_(sizes.in_channels / sizes.groups),
      out_of_group_(sizes.out_channels / sizes.groups),
      blocks_((out_of_group_ + channels_ - 1) / channels_),
      taps_(sizes.taps()),
      step_(in_of_group_ * channels_),
      packed_(static_cast<std::size_t>(sizes.groups * blocks_ * taps_ * step_)) {}

void PackedWeights::pack(const float* w, std::int64_t block) {
  const std::int64_t group = block / blocks_;
  const std::int64_t first = block % blocks_ * channels_;
  const std::int64_t count = std::min(channels_, out_of_group_ - first);
  float* const to = packed_.data() + block * taps_ * step_;
  for (std::int64_t in = 0; in < in_of_group_; ++in) {
    for (std::int64_t c = 0; c < count; ++c) {
      const float* from = w + ((group * in_of_group_ + in) * out_of_group_ + first + c) * taps_;
      for (std::int64_t tap = 0; tap < taps_; ++tap) {
        to[tap * step_ + in * channels_ + c] = from[tap];
      }
    }
  }
}

}  // namespace fusebench::conv_transpose3d_residual
