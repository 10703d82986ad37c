#include "variants/conv_transpose3d_residual/parity_plan.hpp"

#include <cstddef>
#include <vector>

#include "variants/conv_transpose3d_residual/convolution.hpp"
#include "variants/conv_transpose3d_residual/parity_tiles.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

constexpr std::int64_t beyond_bytes = 4096;  // how far a kernel may read behind the packed weights
constexpr std::uint32_t pack_threads = 256;

// parity_block.cuh's.
struct DoublingArguments {
  float* y;
  const float* x;
  const float* w;
  const float* conv_bias;
  const float* b;
  const void* packed;
  const std::uint32_t* flags;
  std::uint32_t wide;
};

constexpr std::int64_t round_up(std::int64_t count, std::int64_t to) {
  return (count + to - 1) / to * to;
}

class ParityPlan final : public Plan {
 public:
  ParityPlan(const ParityKernel& kernel, const CudaRequest& request)
      : convolution_(request.convolution),
        sizes_(request.convolution),
        module_(request.modules.front()),
        pack_(module_->kernel("pack")),
        double_(module_->kernel(kernel.name)),
        shape_{.blocks = parity_blocks(convolution_, request.configuration),
               .threads = static_cast<std::uint32_t>(kernel.threads),
               .dynamic_shared_bytes = static_cast<std::uint32_t>(kernel.dynamic_shared_bytes)} {
    const std::int64_t channels = round_up(convolution_.out_channels, block_channels);
    const std::int64_t in_channels = round_up(convolution_.in_channels, chunk_channels);
    pack_shape_ = {.blocks = blocks_for(channels, 1), .threads = pack_threads};
    const auto bytes = static_cast<std::size_t>(channels * in_channels * 27 * kernel.weight_bytes);
    packed_ = request.device.allocate(bytes + beyond_bytes);
    flags_ = request.device.allocate(static_cast<std::size_t>(channels) * sizeof(std::uint32_t));
    const std::vector<std::byte> zeros(beyond_bytes);
    request.device.upload(static_cast<std::byte*>(packed_.address()) + bytes, zeros.data(),
                          zeros.size());
  }

  void enqueue(const TensorTable& tensors) override {
    pack_->launch(pack_shape_, packed_.address(), flags_.address(), tensors.input(tensor_w),
                  sizes_);
    const DoublingArguments arguments{tensors.output(),
                                      tensors.input(tensor_x),
                                      tensors.input(tensor_w),
                                      conv_bias_of(convolution_, tensors),
                                      tensors.input(tensor_b),
                                      packed_.address(),
                                      static_cast<const std::uint32_t*>(flags_.address()),
                                      stores_wide(convolution_, tensors.output()) ? 1U : 0U};
    double_->launch(shape_, arguments, sizes_);
  }

 private:
  ConvTranspose3d convolution_;
  KernelConvolution sizes_;
  std::shared_ptr<CudaModule> module_;
  std::unique_ptr<CudaKernel> pack_, double_;
  LaunchShape shape_, pack_shape_;
  Buffer packed_, flags_;
};

}  // namespace

std::unique_ptr<Plan> make_parity_plan(const ParityKernel& kernel, const CudaRequest& request) {
  return std::make_unique<ParityPlan>(kernel, request);
}

}  // namespace fusebench::conv_transpose3d_residual
