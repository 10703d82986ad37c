// The epilogue fused by cuDNN itself: eight convolutions of stride 1, one for each parity of the output's
// depth, height and width, which it has fused engines for (cudnn_graphs.hpp). Packed before, transposed after.
#include <array>

#include "variants/conv_transpose3d_residual/cuda_variant.hpp"
#include "variants/conv_transpose3d_residual/cudnn_graphs.hpp"
#include "variants/conv_transpose3d_residual/cudnn_layout.hpp"
#include "variants/conv_transpose3d_residual/cudnn_variant.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

// What a position of x and a tap of w hold, for each channel of the operator.
struct Operands {
  bool bf16x3;
  [[nodiscard]] std::int64_t padded(std::int64_t channels) const {
    return padded_channels(channels, bf16x3 ? 8 : 4);  // 16 bytes
  }
  [[nodiscard]] std::int64_t bytes() const { return bf16x3 ? 3 * 2 : 4; }
  [[nodiscard]] std::vector<CudnnDescription> graphs(const ConvTranspose3d& sizes) const {
    return fused_parities(sizes, padded(sizes.in_channels) * (bf16x3 ? 3 : 1),
                          bf16x3 ? CudnnType::bfloat16 : CudnnType::float32);
  }
};

class Steps {
 public:
  Steps(CudnnRequest&& request, Operands operands)
      : operands_(operands),
        sizes_(request.convolution),
        plans_(std::move(request.plans)),
        kernels_(request.modules.front()) {
    const auto u64 = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    const std::int64_t row = operands_.bf16x3 ? 3 * ci : ci;
    const std::int64_t in = sizes_.input_positions();
    const std::int64_t out = sizes_.output_positions();
    x_shape_ = {.items = u64(sizes_.n),
                .given = u64(sizes_.n),
                .positions = u64(in),
                .channels = u64(sizes_.in_channels),
                .padded = u64(ci),
                .from = {.outer = u64(sizes_.in_channels * in), .row = u64(in)},
                .to = {.outer = u64(in * row), .row = u64(row)}};
    y_shape_ = {.items = u64(sizes_.n),
                .given = u64(sizes_.n),
                .positions = u64(out),
                .channels = u64(sizes_.out_channels),
                .padded = u64(co),
                .from = {.row = u64(co)},
                .to = {.outer = u64(sizes_.out_channels * out), .row = u64(out)}};
    const auto buffer = [&](std::int64_t bytes) {
      return request.device.allocate(static_cast<std::size_t>(bytes));
    };
    x_ = buffer(sizes_.n * in * ci * operands_.bytes());
    filters_ = buffer(27 * co * ci * operands_.bytes());
    biases_ = buffer(2 * co * 4);
    y_ = buffer(sizes_.n * out * co * 4);
  }

  void run(const TensorTable& tensors) const {
    const float* x = tensors.input(tensor_x);
    const float* w = tensors.input(tensor_w);
    if (operands_.bf16x3) {
      kernels_.to_channels_last_bf16x3(x_.address(), x, x_shape_);
      kernels_.parity_filters_bf16x3(filters_.address(), w, sizes_.in_channels, sizes_.out_channels,
                                     ci, co);
    } else {
      kernels_.to_channels_last(x_.address(), x, x_shape_);
      kernels_.parity_filters(filters_.address(), w, sizes_.in_channels, sizes_.out_channels, ci,
                              co);
    }
    kernels_.biases(biases_.address(), conv_bias_of(sizes_, tensors), tensors.input(tensor_b),
                    sizes_.out_channels, co);
    const auto* filter = static_cast<const std::byte*>(filters_.address());
    const auto* biases = static_cast<const float*>(biases_.address());
    const auto* y = static_cast<const float*>(y_.address());
    for (int number = 0; number < 8; ++number) {
      const Parity parity(number);
      std::vector<const void*> addresses = {x_.address(), filter};
      if (sizes_.bias) addresses.push_back(biases);
      addresses.push_back(biases + co);
      addresses.push_back(y);
      plans_[static_cast<std::size_t>(number)]->enqueue(addresses);
      filter += parity.taps() * co * ci * operands_.bytes();
      y += sizes_.n * sizes_.input_positions() * co;
    }
    kernels_.parities_to_channels_first(tensors.output(), y_.address(), y_shape_, sizes_.input);
  }

 private:
  Operands operands_;
  ConvTranspose3d sizes_;
  std::int64_t ci = operands_.padded(sizes_.in_channels);
  std::int64_t co = padded_channels(sizes_.out_channels, 4);
  std::vector<std::unique_ptr<CudnnPlan>> plans_;
  LayoutKernels kernels_;
  Transposition x_shape_, y_shape_;
  Buffer x_, filters_, biases_, y_;
};

CudnnVariant variant(std::string name, std::string idea, Precision precision, CudnnMath math) {
  const Operands operands{precision == Precision::bf16x3};
  return {
      .name = std::move(name),
      .idea = std::move(idea),
      .precision = precision,
      .math = math,
      .kernels = {LayoutKernels::spec()},
      .graphs = [operands](const ConvTranspose3d& sizes) { return operands.graphs(sizes); },
      .refuses = refuses_all_but_doubling,
      .steps = [operands](CudnnRequest&& request) -> std::function<void(const TensorTable&)> {
        auto steps = std::make_shared<const Steps>(std::move(request), operands);
        return [steps](const TensorTable& tensors) { steps->run(tensors); };
      },
  };
}

const bool registered =
    add_cudnn_variant(variant("cudnn_fused_parity",
                              "eight convolutions, one a parity, with the epilogue fused by cuDNN",
                              Precision::float32, CudnnMath::float32)) &&
    add_cudnn_variant(variant("cudnn_fused_parity_tf32",
                              "the same with TF32, which cuDNN has fused 3-D engines for",
                              Precision::tf32, CudnnMath::tf32)) &&
    add_cudnn_variant(variant("cudnn_fused_parity_bf16x3",
                              "the same on three bf16 for each float, as three times the channels",
                              Precision::bf16x3, CudnnMath::tf32));

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
