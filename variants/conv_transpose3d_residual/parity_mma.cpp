#include "variants/conv_transpose3d_residual/parity_mma.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "variants/conv_transpose3d_residual/convolution.hpp"
#include "variants/conv_transpose3d_residual/cuda_variant.hpp"
#include "variants/conv_transpose3d_residual/parity_tiles.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

constexpr std::int64_t chunk_channels = 32;
constexpr std::int64_t tap_bytes = 4096;  // how far the kernel's last load of weights reads on
constexpr std::int64_t pack_threads = 256;

// parity_mma.cuh's DoublingArguments.
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

std::int64_t threads_of(const Configuration& k) {
  const std::int64_t across_positions =
      k.integer("rows") * k.integer("columns") / 8 / k.integer("n_tiles");
  return 32 * (block_channels / 16 / k.integer("m_tiles")) * across_positions;
}

std::int64_t halo_bytes(const Configuration& k, std::int64_t value_bytes) {
  return halo_positions(k) * (chunk_channels * value_bytes + 16);
}

// Tiles of 64 and 128 positions, and shares of a warp that leave registers for the rest. Two blocks are asked
// for only where the compiler would just miss them.
bool sensible(const Configuration& k) {
  const std::int64_t positions = k.integer("rows") * k.integer("columns");
  const std::int64_t m = k.integer("m_tiles");
  const std::int64_t n = k.integer("n_tiles");
  if (positions != 64 && positions != 128) return false;
  if (m == 1 && n == 8) return false;
  if (k.integer("columns") < 32 && k.text("store") != "store_default") return false;
  return k.integer("blocks") == 0 || (positions == 128 && m == 2 && n == 4);
}

class ParityPlan final : public Plan {
 public:
  ParityPlan(const ParityMma& variant, const CudaRequest& request)
      : convolution_(request.convolution),
        sizes_(request.convolution),
        module_(request.module),
        pack_(module_->kernel("pack")),
        double_(module_->kernel(convolution_.in_channels > chunk_channels ? "double_chunks"
                                                                          : "double_one_chunk")) {
    const Configuration& k = request.configuration;
    shape_ = {
        .blocks = parity_blocks(convolution_, k),
        .threads = static_cast<std::uint32_t>(threads_of(k)),
        .dynamic_shared_bytes = static_cast<std::uint32_t>(halo_bytes(k, variant.value_bytes))};
    const std::int64_t channels =
        (convolution_.out_channels + block_channels - 1) / block_channels * block_channels;
    const std::int64_t in_channels =
        (convolution_.in_channels + chunk_channels - 1) / chunk_channels * chunk_channels;
    pack_shape_ = {.blocks = blocks_for(channels, 1), .threads = pack_threads};
    const auto bytes = static_cast<std::size_t>(channels * in_channels * 27 * variant.value_bytes);
    packed_ = request.device.allocate(bytes + tap_bytes);
    flags_ = request.device.allocate(static_cast<std::size_t>(channels) * sizeof(std::uint32_t));
    const std::vector<std::byte> zeros(tap_bytes);
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

bool add_parity_mma_variant(const ParityMma& variant) {
  return add_cuda_variant({
      .name = variant.name,
      .idea = variant.idea,
      .source = variant.source,
      .precision = variant.precision,
      .parameters = ParameterSpace(
          {{"rows", integers({2, 4, 8, 16}), fmt::format("{}", variant.default_rows)},
           {"columns", integers({8, 32}), "32"},
           {"m_tiles", integers({1, 2}), "2"},
           {"n_tiles", integers({4, 8}), "4"},
           {"blocks", integers({0, 2}), variant.default_rows == 4 ? "2" : "0"},
           {"store", {"store_default", "store_streaming"}, "store_default"}},
          sensible),
      .refuses = refuses_all_but_doubling,
      .plan = [variant](const CudaRequest& request) -> std::unique_ptr<Plan> {
        return std::make_unique<ParityPlan>(variant, request);
      },
      .oldest_architecture = 80,
  });
}

}  // namespace fusebench::conv_transpose3d_residual
