// The baseline: what eager PyTorch does, cuDNN's transposed convolution, its bias added in a pass of its own,
// then a copy and four elementwise kernels.
#include <array>

#include "variants/conv_transpose3d_residual/cuda_variant.hpp"
#include "variants/conv_transpose3d_residual/cudnn_graphs.hpp"
#include "variants/conv_transpose3d_residual/cudnn_variant.hpp"
#include "variants/residual_epilogue/cuda_variant.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

// Memory is not allocated in the call, as with PyTorch's caching allocator.
class UnfusedSteps {
 public:
  explicit UnfusedSteps(CudnnRequest&& request)
      : sizes_(request.convolution),
        convolution_(std::move(request.plans.front())),
        module_(request.modules.front()),
        clone_(module_->kernel("clone")),
        add_bias_(module_->kernel("add_bias")),
        add_(module_->kernel("add")),
        multiply_(module_->kernel("multiply")),
        shape_{.blocks = blocks_for(sizes_.output_elements(), std::int64_t{4} * threads),
               .threads = threads},
        extents_({sizes_.n * sizes_.out_channels, sizes_.out_channels, sizes_.output_positions()}) {
    const auto bytes = static_cast<std::size_t>(sizes_.output_elements()) * sizeof(float);
    for (Buffer& buffer : results_) buffer = request.device.allocate(bytes);
  }

  void run(const TensorTable& tensors) const {
    auto* c = static_cast<float*>(results_[0].address());
    auto* original = static_cast<float*>(results_[1].address());
    auto* biased = static_cast<float*>(results_[2].address());
    auto* doubled = static_cast<float*>(results_[3].address());
    float* scaled = biased;  // the caching allocator would hand the sum's memory out again
    const std::uint64_t n = extents_.elements;
    const std::array<const void*, 3> addresses = {tensors.input(tensor_x), tensors.input(tensor_w),
                                                  c};
    convolution_->enqueue(addresses);
    if (const float* conv_bias = conv_bias_of(sizes_, tensors)) {
      add_bias_->launch(shape_, c, c, conv_bias, extents_);
    }
    clone_->launch(shape_, original, c, n);
    add_bias_->launch(shape_, biased, c, tensors.input(tensor_b), extents_);
    add_->launch(shape_, doubled, biased, original, n);
    multiply_->launch(shape_, scaled, doubled, original, n);
    add_->launch(shape_, tensors.output(), scaled, original, n);
  }

  static constexpr std::uint32_t threads = 256;

 private:
  ConvTranspose3d sizes_;
  std::unique_ptr<CudnnPlan> convolution_;
  std::shared_ptr<CudaModule> module_;
  std::unique_ptr<CudaKernel> clone_, add_bias_, add_, multiply_;
  LaunchShape shape_;
  residual_epilogue::KernelExtents extents_;
  std::array<Buffer, 4> results_;
};

CudnnVariant variant(std::string name, std::string idea, Precision precision, CudnnMath math) {
  return {
      .name = std::move(name),
      .idea = std::move(idea),
      .precision = precision,
      .math = math,
      .kernels = {{.source = "variants/residual_epilogue/cuda_unfused.cu",
                   .macros = {{"BLOCK_SIZE", std::to_string(UnfusedSteps::threads)}},
                   .contract = false}},
      .graphs =
          [](const ConvTranspose3d& sizes) {
            return std::vector{transposed_convolution(sizes, Layout::channels_first)};
          },
      .refuses = refuses_wide_output_padding,
      .steps = [](CudnnRequest&& request) -> std::function<void(const TensorTable&)> {
        auto steps = std::make_shared<const UnfusedSteps>(std::move(request));
        return [steps](const TensorTable& tensors) { steps->run(tensors); };
      },
      .baseline = precision == Precision::float32,
  };
}

const bool registered =
    add_cudnn_variant(
        variant("cudnn_unfused",
                "cuDNN in float32, bias, clone and four kernels, as eager PyTorch without TF32",
                Precision::float32, CudnnMath::float32)) &&
    add_cudnn_variant(variant("cudnn_unfused_tf32",
                              "cuDNN with TF32, bias, clone and four kernels: PyTorch's default",
                              Precision::tf32, CudnnMath::tf32));

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
