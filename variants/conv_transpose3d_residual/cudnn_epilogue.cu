// cuDNN's transposed convolution straight into y, then one kernel in place on it: what fusing everything but
// the convolution is worth.
#ifdef __CUDACC_RTC__
#include "variants/residual_epilogue/epilogue.cuh"

constexpr u32 block_size = 256;
constexpr u32 items = 2;
constexpr u32 tile = block_size * items * 4;

// The convolution's bias first, as a step of its own; without one `conv_bias` is null.
struct ConvolutionBias {
  __device__ ConvolutionBias(const float* conv_bias, const float* b, const Extents& extents,
                             u64 first)
      : biased(conv_bias != nullptr),
        conv(biased ? conv_bias : b, extents, first),
        residual(b, extents, first) {}
  __device__ float operator()(float c, u64 element) const {
    if (biased) c = __fadd_rn(c, conv.at(element));
    return exact_order(c, residual.at(element));
  }
  bool biased;
  TileBias<tile> conv, residual;
};

extern "C" __global__ void __launch_bounds__(block_size)
    epilogue_in_place(float* y, const float* conv_bias, const float* b, Extents extents) {
  const u64 first = blockIdx.x * u64(tile);
  const ConvolutionBias apply_both(conv_bias, b, extents, first);
  if (first + tile > extents.elements || !aligned(y, y, 16)) {
    for (u64 i = first + threadIdx.x; i < first + tile && i < extents.elements; i += block_size) {
      y[i] = apply_both(y[i], i);
    }
    return;
  }
  const u64 mine = first + threadIdx.x * 4;
  float4* at = reinterpret_cast<float4*>(y + mine);
  float4 value[items];
#pragma unroll
  for (u32 k = 0; k < items; ++k) value[k] = at[k * block_size];
#pragma unroll
  for (u32 k = 0; k < items; ++k) {
    const u64 i = mine + k * block_size * 4;
    const float4 c = value[k];
    at[k * block_size] = make_float4(apply_both(c.x, i), apply_both(c.y, i + 1),
                                     apply_both(c.z, i + 2), apply_both(c.w, i + 3));
  }
}

#else
#include <array>

#include "variants/conv_transpose3d_residual/cuda_variant.hpp"
#include "variants/conv_transpose3d_residual/cudnn_graphs.hpp"
#include "variants/conv_transpose3d_residual/cudnn_variant.hpp"
#include "variants/residual_epilogue/cuda_variant.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

CudnnVariant variant(std::string name, Precision precision, CudnnMath math) {
  return {
      .name = std::move(name),
      .idea = "dgrad in NCDHW into y, then bias and epilogue in one kernel in place",
      .precision = precision,
      .math = math,
      .kernels = {{.source = __FILE__, .macros = {}, .contract = false}},
      .graphs =
          [](const ConvTranspose3d& sizes) {
            return std::vector{transposed_convolution(sizes, Layout::channels_first)};
          },
      .refuses = refuses_wide_output_padding,
      .steps = [](CudnnRequest&& request) -> std::function<void(const TensorTable&)> {
        constexpr std::int64_t threads = 256;
        const ConvTranspose3d sizes = request.convolution;
        const LaunchShape shape{.blocks = blocks_for(sizes.output_elements(), threads * 8),
                                .threads = threads};
        std::shared_ptr<CudnnPlan> convolution = std::move(request.plans.front());
        std::shared_ptr<CudaKernel> kernel = request.modules.front()->kernel("epilogue_in_place");
        return [module = request.modules.front(), convolution, kernel, shape, sizes,
                extents = residual_epilogue::KernelExtents(
                    {sizes.n * sizes.out_channels, sizes.out_channels, sizes.output_positions()})](
                   const TensorTable& tensors) {
          const std::array<const void*, 3> addresses = {tensors.input(tensor_x),
                                                        tensors.input(tensor_w), tensors.output()};
          convolution->enqueue(addresses);
          kernel->launch(shape, tensors.output(), conv_bias_of(sizes, tensors),
                         tensors.input(tensor_b), extents);
        };
      },
  };
}

const bool registered =
    add_cudnn_variant(variant("cudnn_epilogue", Precision::float32, CudnnMath::float32)) &&
    add_cudnn_variant(variant("cudnn_epilogue_tf32", Precision::tf32, CudnnMath::tf32));

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
#endif
