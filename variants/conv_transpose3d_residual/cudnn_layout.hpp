// Moving tensors between NCDHW and the channels-last layouts that cuDNN's fused engines want.
#pragma once

#include <cstdint>
#include <memory>

#include "harness/device/cuda/cuda_device.hpp"
#include "reference/conv_transpose3d.hpp"

namespace fusebench::conv_transpose3d_residual {

/// Where the matrices of a batch lie, in elements: item q begins at (q / per) * outer + (q % per) * inner.
/// `row` is the distance of channels in a channels-first matrix, of positions in a channels-last one.
struct MatrixBatch {
  std::uint64_t per = 1;
  std::uint64_t outer = 0;
  std::uint64_t inner = 0;
  std::uint64_t row = 0;
};

/// struct Transposition in cudnn_layout.cu has the same layout.
struct Transposition {
  std::uint64_t items = 1;
  std::uint64_t given = 1;  ///< of them; the others are written as zeros
  std::uint64_t positions = 1;
  std::uint64_t channels = 1;
  std::uint64_t padded = 1;  ///< channels of a channels-last side; the others are zeros
  MatrixBatch from;
  MatrixBatch to;
};

/// The kernels of cudnn_layout.cu, on the device's stream. Channels-first tensors may lie anywhere, the
/// others begin at multiples of 16 bytes.
class LayoutKernels {
 public:
  [[nodiscard]] static KernelSpec spec();
  explicit LayoutKernels(std::shared_ptr<CudaModule> module);

  void to_channels_last(void* to, const float* from, const Transposition& t) const;
  /// Three bf16 for each float, hi, hi and lo of what hi left: channels [0, padded) of each position are hi,
  /// the next `padded` hi again, the last lo.
  void to_channels_last_bf16x3(void* to, const float* from, const Transposition& t) const;
  void to_channels_first(float* to, const void* from, const Transposition& t) const;
  /// From eight dense channels-last tensors of extents `eighth`, one behind the other in the order of their
  /// numbers (Parity), to one of twice the extents. t.positions are the latter's; of t.from only the row counts.
  void parities_to_channels_first(float* to, const void* from, const Transposition& t,
                                  const PerDimension& eighth) const;
  /// Adds conv_bias, unless it is null, and applies the operator's epilogue on the way.
  void to_channels_first_epilogue(float* to, const void* from, const float* conv_bias,
                                  const float* b, const Transposition& t) const;

  /// The weight [ci, co, 3, 3, 3] as the filters of the eight parities, one behind the other, each
  /// [co_padded, taps, ci_padded]: cudnn_graphs.hpp says which taps.
  void parity_filters(void* to, const float* w, std::int64_t ci, std::int64_t co,
                      std::int64_t ci_padded, std::int64_t co_padded) const;
  /// Three bf16 for each, hi, lo and hi, to be multiplied with to_channels_last_bf16x3's hi, hi and lo.
  void parity_filters_bf16x3(void* to, const float* w, std::int64_t ci, std::int64_t co,
                             std::int64_t ci_padded, std::int64_t co_padded) const;
  /// to[0, padded) = conv_bias, or zeros where it is null; to[padded, 2 padded) = b; zeros behind `channels`.
  void biases(void* to, const float* conv_bias, const float* b, std::int64_t channels,
              std::int64_t padded) const;

 private:
  std::shared_ptr<CudaModule> module_;
  std::shared_ptr<CudaKernel> to_channels_last_, to_channels_last_bf16x3_, to_channels_first_,
      parities_to_channels_first_, to_channels_first_epilogue_, parity_filters_,
      parity_filters_bf16x3_, biases_;
};

}  // namespace fusebench::conv_transpose3d_residual
