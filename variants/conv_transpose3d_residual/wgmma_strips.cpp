#include "variants/conv_transpose3d_residual/wgmma_strips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "harness/core/error.hpp"
#include "variants/conv_transpose3d_residual/convolution.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

// As in wgmma_strips.cuh and wgmma_strip_weights.cuh.
constexpr std::int64_t block_channels = 64;
constexpr std::int64_t tile_channels = 32;
constexpr std::int64_t strip_columns = 16;
constexpr std::int64_t strips_of_warpgroup = 4;
constexpr std::int64_t weights_bytes = 27 * block_channels * tile_channels * 2 * 2;
constexpr std::int64_t head_bytes = 2048;
constexpr std::int64_t of_channel_bytes = 16;
constexpr std::uint32_t pack_threads = 256;

struct Prepared {
  void* weights;
  void* channels;
};

struct Strips {
  Strips(const ConvTranspose3d& sizes, const KernelConvolution& counts)
      : columns(pieces(sizes.input[2], strip_columns)),
        rows(sizes.input[1]),
        depth(sizes.input[0]),
        positions(static_cast<std::uint32_t>(counts.positions)),
        outputs(static_cast<std::uint32_t>(counts.outputs_of_channel)) {}
  std::uint32_t of_item() const { return columns.divisor * rows.divisor * depth.divisor; }
  Divisor columns, rows, depth;
  std::uint32_t count = 0, positions, outputs;
};

// Items of the batch that one launch does: its kernel counts elements with 31 bits.
std::int64_t items_of_launch(const ConvTranspose3d& sizes, const KernelConvolution& counts) {
  const std::uint64_t elements = std::max(counts.in_channels * counts.positions,
                                          counts.out_channels * counts.outputs_of_channel);
  const std::uint64_t most = (std::uint64_t{1} << 31) / elements;
  if (most == 0)
    throw Unavailable("{} elements of an item are more than the kernel counts", elements);
  return std::min(sizes.n, static_cast<std::int64_t>(most));
}

struct Arguments {
  float* y;
  const float *x, *w, *conv_bias, *b;
  Prepared prepared;
  KernelConvolution s;
  Strips strips;
  std::uint32_t of_block;
};

class StripsPlan final : public Plan {
 public:
  explicit StripsPlan(const CudaRequest& request)
      : convolution_(request.convolution),
        sizes_(request.convolution),
        strips_(request.convolution, sizes_),
        items_(items_of_launch(convolution_, sizes_)),
        module_(request.module),
        pack_(module_->kernel("pack")),
        whole_(module_->kernel("convolve_whole")),
        any_(module_->kernel("convolve_any")),
        channel_blocks_(pieces(convolution_.out_channels, block_channels)) {
    const DeviceTraits& traits = request.device.traits();
    constexpr std::int64_t shared = head_bytes + weights_bytes;
    if (shared > traits.shared_memory_bytes) {
      throw Unavailable("a block needs {} bytes of shared memory; {} has {}", shared, traits.name,
                        traits.shared_memory_bytes);
    }
    block_strips_ = strips_of_warpgroup * request.configuration.integer("groups");
    processors_ = std::max(1, traits.processors);
    shape_ = {.threads = static_cast<std::uint32_t>(block_strips_ * 32),
              .dynamic_shared_bytes = static_cast<std::uint32_t>(shared),
              .overlapping = true};
    const auto part_of = [&](std::int64_t bytes) {
      buffers_.push_back(request.device.allocate(static_cast<std::size_t>(bytes)));
      return buffers_.back().address();
    };
    prepared_.weights = part_of(channel_blocks_ * weights_bytes);
    prepared_.channels = part_of(channel_blocks_ * block_channels * of_channel_bytes);
  }

  void enqueue(const TensorTable& tensors) override {
    Arguments arguments = {tensors.output(),
                           tensors.input(tensor_x),
                           tensors.input(tensor_w),
                           conv_bias_of(convolution_, tensors),
                           tensors.input(tensor_b),
                           prepared_,
                           sizes_,
                           strips_,
                           0};
    pack_->launch({.blocks = static_cast<std::uint32_t>(channel_blocks_ * block_channels),
                   .threads = pack_threads},
                  arguments);
    CudaKernel& convolve = whole(arguments) ? *whole_ : *any_;
    for (std::int64_t first = 0; first < convolution_.n; first += items_) {
      const std::int64_t items = std::min(items_, convolution_.n - first);
      arguments.x = tensors.input(tensor_x) +
                    static_cast<std::uint64_t>(first) * sizes_.in_channels * sizes_.positions;
      arguments.y = tensors.output() + static_cast<std::uint64_t>(first) * sizes_.out_channels *
                                           sizes_.outputs_of_channel;
      arguments.strips.count = static_cast<std::uint32_t>(items) * strips_.of_item();
      // No more blocks than there is work for.
      shape_.blocks = static_cast<std::uint32_t>(
          std::min(pieces(arguments.strips.count, block_strips_), processors_));
      for (std::int64_t block = 0; block < channel_blocks_; ++block) {
        arguments.of_block = static_cast<std::uint32_t>(block);
        convolve.launch(shape_, arguments);
      }
    }
  }

 private:
  // Whether nothing is cut off or askew.
  bool whole(const Arguments& arguments) const {
    return convolution_.input[2] % strip_columns == 0 &&
           convolution_.in_channels == tile_channels &&
           convolution_.out_channels % block_channels == 0 &&
           reinterpret_cast<std::uintptr_t>(arguments.x) % 8 == 0 &&
           reinterpret_cast<std::uintptr_t>(arguments.y) % 16 == 0;
  }

  ConvTranspose3d convolution_;
  KernelConvolution sizes_;
  Strips strips_;
  std::int64_t items_;
  std::shared_ptr<CudaModule> module_;
  std::unique_ptr<CudaKernel> pack_, whole_, any_;
  std::int64_t channel_blocks_;
  std::int64_t block_strips_ = 0, processors_ = 1;
  LaunchShape shape_;
  std::vector<Buffer> buffers_;
  Prepared prepared_{};
};

}  // namespace

std::unique_ptr<Plan> plan_strips(const CudaRequest& request) {
  return std::make_unique<StripsPlan>(request);
}

}  // namespace fusebench::conv_transpose3d_residual
