// The epilogue fused by cuDNN itself: it has no fused engine for a 3-D convolution of stride 2, but planes of
// depth are 2-D ones, and for those it has (cudnn_graphs.hpp). Packed before and transposed after.
#include <array>

#include "variants/conv_transpose3d_residual/cuda_variant.hpp"
#include "variants/conv_transpose3d_residual/cudnn_graphs.hpp"
#include "variants/conv_transpose3d_residual/cudnn_layout.hpp"
#include "variants/conv_transpose3d_residual/cudnn_variant.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

class Steps {
 public:
  explicit Steps(CudnnRequest&& request)
      : sizes_(request.convolution),
        plans_(std::move(request.plans)),
        kernels_(request.modules.front()) {
    const auto buffer = [&](std::int64_t elements) {
      return request.device.allocate(static_cast<std::size_t>(elements) * sizeof(float));
    };
    x_even_ = buffer(n * d * plane * ci);
    x_odd_ = buffer(n * (d - 1) * plane * 2 * ci);
    // Not a view of the even ones: cuDNN's tensor-core engine wants a dense batch.
    x_last_ = buffer(n * plane * ci);
    w_even_ = buffer(ci * 9 * co);
    w_odd_ = buffer(2 * ci * 9 * co);
    biases_ = buffer(2 * co);
    y_even_ = buffer(n * d * 4 * plane * co);
    y_odd_ = buffer(n * (d - 1) * 4 * plane * co);
    y_last_ = buffer(n * 4 * plane * co);
  }

  void run(const TensorTable& tensors) const {
    pack(tensors);
    std::size_t plan = 0;
    enqueue(plan++, x_even_.address(), w_even_.address(), y_even_);
    if (d > 1) enqueue(plan++, x_odd_.address(), w_odd_.address(), y_odd_);
    enqueue(plan, x_last_.address(), w_odd_.address(), y_last_);
    unpack(tensors.output());
  }

 private:
  static std::uint64_t u64(std::int64_t value) { return static_cast<std::uint64_t>(value); }
  static float* at(const Buffer& buffer, std::int64_t element) {
    return static_cast<float*>(buffer.address()) + element;
  }

  // Planes of x, `depth` of each item; `channels` of a position of the target.
  [[nodiscard]] Transposition planes_in(std::int64_t depth, std::int64_t channels) const {
    return {.items = u64(n * depth),
            .given = u64(n * depth),
            .positions = u64(plane),
            .channels = u64(sizes_.in_channels),
            .padded = u64(ci),
            .from = {.per = u64(depth),
                     .outer = u64(sizes_.in_channels * d * plane),
                     .inner = u64(plane),
                     .row = u64(d * plane)},
            .to = {.outer = u64(plane * channels), .row = u64(channels)}};
  }

  // Planes of y: `depth` of each item, two apart.
  [[nodiscard]] Transposition planes_out(std::int64_t depth) const {
    const std::int64_t out_plane = 4 * plane;
    return {.items = u64(n * depth),
            .given = u64(n * depth),
            .positions = u64(out_plane),
            .channels = u64(sizes_.out_channels),
            .padded = u64(co),
            .from = {.outer = u64(out_plane * co), .row = u64(co)},
            .to = {.per = u64(depth),
                   .outer = u64(sizes_.out_channels * 2 * d * out_plane),
                   .inner = u64(2 * out_plane),
                   .row = u64(2 * d * out_plane)}};
  }

  void pack(const TensorTable& tensors) const {
    const float* x = tensors.input(tensor_x);
    kernels_.to_channels_last(x_even_.address(), x, planes_in(d, ci));
    if (d > 1) {
      kernels_.to_channels_last(x_odd_.address(), x, planes_in(d - 1, 2 * ci));
      kernels_.to_channels_last(at(x_odd_, ci), x + plane, planes_in(d - 1, 2 * ci));
    }
    kernels_.to_channels_last(x_last_.address(), x + (d - 1) * plane, planes_in(1, ci));
    const float* w = tensors.input(tensor_w);
    const Transposition one_depth = {.items = u64(ci),
                                     .given = u64(sizes_.in_channels),
                                     .positions = 9,
                                     .channels = u64(sizes_.out_channels),
                                     .padded = u64(co),
                                     .from = {.outer = u64(sizes_.out_channels * 27), .row = 27},
                                     .to = {.outer = u64(9 * co), .row = u64(co)}};
    kernels_.to_channels_last(w_even_.address(), w + 9, one_depth);
    kernels_.to_channels_last(w_odd_.address(), w + 18, one_depth);
    kernels_.to_channels_last(at(w_odd_, ci * 9 * co), w, one_depth);
    kernels_.biases(biases_.address(), conv_bias_of(sizes_, tensors), tensors.input(tensor_b),
                    sizes_.out_channels, co);
  }

  void enqueue(std::size_t plan, const void* x, const void* w, const Buffer& y) const {
    std::vector<const void*> addresses = {x, w};
    if (sizes_.bias) addresses.push_back(biases_.address());
    addresses.push_back(at(biases_, co));
    addresses.push_back(y.address());
    plans_[plan]->enqueue(addresses);
  }

  void unpack(float* y) const {
    const std::int64_t out_plane = 4 * plane;
    kernels_.to_channels_first(y, y_even_.address(), planes_out(d));
    if (d > 1) kernels_.to_channels_first(y + out_plane, y_odd_.address(), planes_out(d - 1));
    kernels_.to_channels_first(y + (2 * d - 1) * out_plane, y_last_.address(), planes_out(1));
  }

  ConvTranspose3d sizes_;
  std::int64_t n = sizes_.n;
  std::int64_t d = sizes_.input[0];
  std::int64_t plane = sizes_.input[1] * sizes_.input[2];
  std::int64_t ci = padded_channels(sizes_.in_channels, 4);
  std::int64_t co = padded_channels(sizes_.out_channels, 4);
  std::vector<std::unique_ptr<CudnnPlan>> plans_;
  LayoutKernels kernels_;
  Buffer x_even_, x_odd_, x_last_, w_even_, w_odd_, biases_, y_even_, y_odd_, y_last_;
};

CudnnVariant variant(std::string name, Precision precision, CudnnMath math) {
  return {
      .name = std::move(name),
      .idea =
          "even and odd planes as 2-D dgrads with the epilogue fused by cuDNN, then NHWC to NCDHW",
      .precision = precision,
      .math = math,
      .kernels = {LayoutKernels::spec()},
      .graphs = fused_planes,
      .refuses = refuses_all_but_doubling,
      .steps = [](CudnnRequest&& request) -> std::function<void(const TensorTable&)> {
        auto steps = std::make_shared<const Steps>(std::move(request));
        return [steps](const TensorTable& tensors) { steps->run(tensors); };
      },
  };
}

const bool registered =
    add_cudnn_variant(variant("cudnn_fused_2d_pair", Precision::float32, CudnnMath::float32)) &&
    add_cudnn_variant(variant("cudnn_fused_2d_pair_tf32", Precision::tf32, CudnnMath::tf32));

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
