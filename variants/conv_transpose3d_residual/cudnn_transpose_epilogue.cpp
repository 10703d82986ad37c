// cuDNN in NDHWC, which its tensor-core engines prefer, with the epilogue inside the transpose back to NCDHW:
// the pass over y that the layout costs does the epilogue's work too.
#include <array>

#include "variants/conv_transpose3d_residual/cuda_variant.hpp"
#include "variants/conv_transpose3d_residual/cudnn_graphs.hpp"
#include "variants/conv_transpose3d_residual/cudnn_layout.hpp"
#include "variants/conv_transpose3d_residual/cudnn_variant.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

// A dense batch of `items` matrices, to or from channels last without padding.
Transposition dense(std::int64_t items, std::int64_t channels, std::int64_t positions,
                    bool to_channels_last) {
  const auto u64 = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  MatrixBatch first{.outer = u64(channels * positions), .row = u64(positions)};
  MatrixBatch last{.outer = u64(channels * positions), .row = u64(channels)};
  return {.items = u64(items),
          .given = u64(items),
          .positions = u64(positions),
          .channels = u64(channels),
          .padded = u64(channels),
          .from = to_channels_last ? first : last,
          .to = to_channels_last ? last : first};
}

class Steps {
 public:
  explicit Steps(CudnnRequest&& request)
      : sizes_(request.convolution),
        convolution_(std::move(request.plans.front())),
        kernels_(request.modules.front()),
        x_shape_(dense(sizes_.n, sizes_.in_channels, sizes_.input_positions(), true)),
        w_shape_(
            dense(sizes_.in_channels, sizes_.out_channels / sizes_.groups, sizes_.taps(), true)),
        y_shape_(dense(sizes_.n, sizes_.out_channels, sizes_.output_positions(), false)) {
    const auto bytes = [](const Transposition& t) {
      return t.items * t.channels * t.positions * sizeof(float);
    };
    x_ = request.device.allocate(bytes(x_shape_));
    w_ = request.device.allocate(bytes(w_shape_));
    c_ = request.device.allocate(bytes(y_shape_));
  }

  void run(const TensorTable& tensors) const {
    kernels_.to_channels_last(x_.address(), tensors.input(tensor_x), x_shape_);
    kernels_.to_channels_last(w_.address(), tensors.input(tensor_w), w_shape_);
    const std::array<const void*, 3> addresses = {x_.address(), w_.address(), c_.address()};
    convolution_->enqueue(addresses);
    kernels_.to_channels_first_epilogue(tensors.output(), c_.address(),
                                        conv_bias_of(sizes_, tensors), tensors.input(tensor_b),
                                        y_shape_);
  }

 private:
  ConvTranspose3d sizes_;
  std::unique_ptr<CudnnPlan> convolution_;
  LayoutKernels kernels_;
  Transposition x_shape_, w_shape_, y_shape_;
  Buffer x_, w_, c_;
};

const bool registered = add_cudnn_variant({
    .name = "cudnn_transpose_epilogue_tf32",
    .idea = "x to NDHWC, dgrad there, epilogue inside the transpose back",
    .precision = Precision::tf32,
    .math = CudnnMath::tf32,
    .kernels = {LayoutKernels::spec()},
    .graphs =
        [](const ConvTranspose3d& sizes) {
          return std::vector{transposed_convolution(sizes, Layout::channels_last)};
        },
    .refuses = refuses_wide_output_padding,
    .steps = [](CudnnRequest&& request) -> std::function<void(const TensorTable&)> {
      auto steps = std::make_shared<const Steps>(std::move(request));
      return [steps](const TensorTable& tensors) { steps->run(tensors); };
    },
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
