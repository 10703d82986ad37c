// One thread an output, every tap it needs read from memory, the epilogue applied before the one store: the
// simplest fused kernel, and what caches alone make of it.
#ifdef __CUDACC_RTC__
#include "variants/conv_transpose3d_residual/convolution.cuh"
#include "variants/residual_epilogue/epilogue.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    direct(float* y, const float* x, const float* w, const float* conv_bias, const float* b,
           Convolution s) {
  const u64 index = blockIdx.x * u64(BLOCK_SIZE) + threadIdx.x;
  if (index >= s.outputs) return;
  const u64 row = index / s.output[2];
  const u32 out_w = index - row * s.output[2];
  const u64 plane = row / s.output[1];
  const u32 out_h = row - plane * s.output[1];
  const u64 volume = plane / s.output[0];
  const u32 out_d = plane - volume * s.output[0];
  const u64 item = volume / s.out_channels;
  const u32 channel = volume - item * s.out_channels;
  const float bias = conv_bias == nullptr ? 0.0f : __ldg(conv_bias + channel);
  const float sum = bias + convolve_directly<4>(x, w, s, item, channel, out_d, out_h, out_w);
  y[index] = exact_order(sum, __ldg(b + channel));
}

#else
#include "variants/conv_transpose3d_residual/convolution.hpp"
#include "variants/conv_transpose3d_residual/cuda_variant.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

const bool registered = add_cuda_variant({
    .name = "cuda_direct",
    .idea = "one thread an output, fused: what the caches alone make of it",
    .source = __FILE__,
    .precision = Precision::float32,
    .parameters = ParameterSpace({{"block_size", integers({64, 128, 256, 512}), "256"}}),
    .plan = [](const CudaRequest& request) -> std::unique_ptr<Plan> {
      const std::int64_t threads = request.configuration.integer("block_size");
      const ConvTranspose3d& convolution = request.convolution;
      const LaunchShape shape{.blocks = blocks_for(convolution.output_elements(), threads),
                              .threads = static_cast<std::uint32_t>(threads)};
      std::shared_ptr<CudaKernel> kernel = request.modules.front()->kernel("direct");
      return make_plan([module = request.modules.front(), kernel, shape, convolution,
                        sizes = KernelConvolution(convolution)](const TensorTable& tensors) {
        kernel->launch(shape, tensors.output(), tensors.input(tensor_x), tensors.input(tensor_w),
                       conv_bias_of(convolution, tensors), tensors.input(tensor_b), sizes);
      });
    },
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
#endif
