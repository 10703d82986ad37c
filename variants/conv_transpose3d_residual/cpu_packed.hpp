// x and w as cpu_direct's tiles read them: neighbours in a register are neighbours in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/conv_transpose3d.hpp"
#include "variants/conv_transpose3d_residual/phases.hpp"

namespace fusebench::conv_transpose3d_residual {

/// x as [item][group][d][h][channel of the group][row]: all channels of a row lie together. Around each row
/// is room, so that a vector of `lanes` floats of which any is in the row can be read whole.
class PackedInput {
 public:
  PackedInput(const ConvTranspose3d& sizes, const std::vector<Phase>& widths, std::int64_t lanes);

  /// Of all items, groups, d and h, in that order.
  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  /// Copies row `row` of every channel from x [n, ci, d, h, w].
  void pack(const float* x, std::int64_t row);
  /// Where the first channel's element `w` of a row is; w may be outside the row by less than `lanes`.
  [[nodiscard]] const float* at(std::int64_t row, std::int64_t w) const noexcept {
    return packed_.data() + row * channels_ * step_ + halo_ + w;
  }
  /// An address where a vector of every channel can be read, whatever it holds.
  [[nodiscard]] const float* anywhere() const noexcept { return packed_.data(); }
  /// Floats from one channel to the next.
  [[nodiscard]] std::int64_t step() const noexcept { return step_; }

 private:
  std::int64_t planes_, width_, channels_, rows_;
  std::int64_t halo_ = 0;
  std::int64_t step_ = 0;
  std::vector<float> packed_;  // what pack() does not write stays 0
};

/// w as [group][block of channels][tap][in channel][channel of the block].
class PackedWeights {
 public:
  PackedWeights(const ConvTranspose3d& sizes, std::int64_t channels_of_a_block);

  [[nodiscard]] std::int64_t blocks_of_a_group() const noexcept { return blocks_; }
  /// Copies one block, of groups * blocks_of_a_group(), from w [ci, co / groups, kernel...].
  void pack(const float* w, std::int64_t block);
  [[nodiscard]] const float* of_block(std::int64_t block) const noexcept {
    return packed_.data() + block * taps_ * step_;
  }
  /// Floats from one tap to the next.
  [[nodiscard]] std::int64_t step() const noexcept { return step_; }

 private:
  std::int64_t channels_, in_of_group_, out_of_group_, blocks_, taps_, step_;
  std::vector<float> packed_;  // what is behind the last channel stays 0
};

}  // namespace fusebench::conv_transpose3d_residual
