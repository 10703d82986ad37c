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
  const u32 group = channel / s.out_of_group;

  const float* x_item = x + (item * s.in_channels + u64(group) * s.in_of_group) * s.positions;
  const float* w_channel =
      w + (u64(group) * s.in_of_group * s.out_of_group + channel % s.out_of_group) * s.taps;
  const u64 w_step = u64(s.out_of_group) * s.taps;
  float sum = conv_bias == nullptr ? 0.0f : conv_bias[channel];
  for (u32 kd = 0; kd < s.kernel[0]; ++kd) {
    u32 in_d, in_h, in_w;
    if (!find_source(s, 0, out_d, kd, in_d)) continue;
    for (u32 kh = 0; kh < s.kernel[1]; ++kh) {
      if (!find_source(s, 1, out_h, kh, in_h)) continue;
      for (u32 kw = 0; kw < s.kernel[2]; ++kw) {
        if (!find_source(s, 2, out_w, kw, in_w)) continue;
        const float* from = x_item + (u64(in_d) * s.input[1] + in_h) * s.input[2] + in_w;
        const float* by = w_channel + (kd * s.kernel[1] + kh) * s.kernel[2] + kw;
        for (u32 c = 0; c < s.in_of_group; ++c) {
          sum = fmaf(__ldg(from), __ldg(by), sum);
          from += s.positions;
          by += w_step;
        }
      }
    }
  }
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
      std::shared_ptr<CudaKernel> kernel = request.module->kernel("direct");
      return make_plan([module = request.module, kernel, shape, convolution,
                        sizes = KernelConvolution(convolution)](const TensorTable& tensors) {
        kernel->launch(shape, tensors.output(), tensors.input(tensor_x), tensors.input(tensor_w),
                       conv_bias_of(convolution, tensors), tensors.input(tensor_b), sizes);
      });
    },
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
#endif
