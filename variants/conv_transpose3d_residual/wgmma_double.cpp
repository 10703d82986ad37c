#include "variants/conv_transpose3d_residual/wgmma_double.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "harness/core/error.hpp"
#include "variants/conv_transpose3d_residual/convolution.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

// As in wgmma_tiles.cuh and wgmma_weights.cuh.
constexpr std::int64_t block_channels = 64;
constexpr std::int64_t tile_channels = 32;
constexpr std::int64_t tile_rows = 4;
constexpr std::int64_t tile_columns = 32;
constexpr std::int64_t all_taps = 27;
constexpr std::int64_t alike_taps = 15;
constexpr std::int64_t mixed_taps = 12;
constexpr std::int64_t head_bytes = 1024;
constexpr std::int64_t pack_threads = 256;
constexpr std::int64_t pack_blocks = all_taps * tile_channels * block_channels / pack_threads;
constexpr std::int64_t counter_words = 64;  // of each block of channels

struct Prepared {
  void* weights;
  void* coefficients;
  void* unusual;
  void* counters;
};

struct Tiles {
  Tiles(const ConvTranspose3d& sizes, std::int64_t long_share) {
    const std::int64_t d = sizes.input[0];
    const std::int64_t row_tiles = pieces(sizes.input[1], tile_rows);
    const std::int64_t w = sizes.input[2];
    const std::int64_t column_tiles =
        w <= tile_columns ? 1 : 1 + pieces(w - tile_columns, tile_columns - 1);
    const std::int64_t stacks = sizes.n * row_tiles * column_tiles;
    if (stacks * d > std::int64_t{1} << 30) {
      throw Unavailable("{} tiles are more than the kernel counts", stacks * d);
    }
    depth = Divisor(d);
    rows = Divisor(row_tiles);
    columns = Divisor(column_tiles);
    per_long = Divisor(pieces(d, long_segment));
    per_short = Divisor(pieces(d, short_segment));
    items = static_cast<std::uint32_t>(stacks * d);
    plane_items = static_cast<std::uint32_t>(row_tiles * column_tiles);
    long_stacks = static_cast<std::uint32_t>(stacks * long_share / 100);
    long_segments = long_stacks * per_long.divisor;
  }
  static constexpr std::int64_t long_segment = 8;
  static constexpr std::int64_t short_segment = 2;
  Divisor depth, rows, columns, per_long, per_short;
  std::uint32_t items, plane_items, long_segments, long_stacks;
};

struct Arguments {
  float* y;
  const float *x, *w, *conv_bias, *b;
  Prepared prepared;
  KernelConvolution s;
  Tiles tiles;
  std::uint32_t of_block, alike_blocks;
};

std::int64_t shared_bytes(int products, const Configuration& configuration) {
  const std::int64_t parts = products == 3 ? 2 : 1;
  const std::int64_t plane = (tile_rows + 1) * parts * tile_channels * tile_columns * 2;
  const std::int64_t tap = parts * block_channels * tile_channels * 2;
  if (products == 1) return head_bytes + all_taps * tap + configuration.integer("slots") * plane;
  return head_bytes + std::max(alike_taps * tap + configuration.integer("alike_slots") * plane,
                               mixed_taps * tap + configuration.integer("mixed_slots") * plane);
}

class WgmmaPlan final : public Plan {
 public:
  WgmmaPlan(const CudaRequest& request, int products)
      : convolution_(request.convolution),
        sizes_(request.convolution),
        tiles_(request.convolution, request.configuration.integer("long_share")),
        module_(request.module),
        pack_(module_->kernel("pack")),
        convolve_(module_->kernel("convolve")),
        channel_blocks_(pieces(convolution_.out_channels, block_channels)) {
    const DeviceTraits& traits = request.device.traits();
    const Configuration& configuration = request.configuration;
    const std::int64_t shared = shared_bytes(products, configuration);
    if (shared > traits.shared_memory_bytes) {
      throw Unavailable("a block needs {} bytes of shared memory; {} has {}", shared, traits.name,
                        traits.shared_memory_bytes);
    }
    // No more blocks than there is work for, and at least one of each kind.
    const std::int64_t kinds = products == 3 ? 2 : 1;
    const std::int64_t blocks = std::clamp<std::int64_t>(
        kinds * tiles_.items, kinds, std::max<std::int64_t>(kinds, traits.processors));
    alike_blocks_ = blocks;
    if (kinds == 2) {
      alike_blocks_ = std::clamp<std::int64_t>(blocks * configuration.integer("alike_share") / 100,
                                               1, blocks - 1);
    }
    shape_ = {.blocks = static_cast<std::uint32_t>(blocks),
              .threads = 384,
              .dynamic_shared_bytes = static_cast<std::uint32_t>(shared),
              .overlapping = true};
    const auto part_of = [&](std::int64_t bytes) {
      buffers_.push_back(request.device.allocate(static_cast<std::size_t>(bytes)));
      return buffers_.back().address();
    };
    const std::int64_t tap_bytes = (products == 3 ? 2 : 1) * block_channels * tile_channels * 2;
    prepared_.weights = part_of(channel_blocks_ * all_taps * tap_bytes);
    prepared_.coefficients = part_of(channel_blocks_ * block_channels * 8);
    prepared_.unusual = part_of(channel_blocks_ * pack_blocks * 4);
    prepared_.counters = part_of(channel_blocks_ * counter_words * 4);
  }

  void enqueue(const TensorTable& tensors) override {
    Arguments arguments = {tensors.output(),
                           tensors.input(tensor_x),
                           tensors.input(tensor_w),
                           conv_bias_of(convolution_, tensors),
                           tensors.input(tensor_b),
                           prepared_,
                           sizes_,
                           tiles_,
                           0,
                           static_cast<std::uint32_t>(alike_blocks_)};
    pack_->launch({.blocks = static_cast<std::uint32_t>(channel_blocks_ * pack_blocks),
                   .threads = static_cast<std::uint32_t>(pack_threads)},
                  arguments);
    for (std::int64_t block = 0; block < channel_blocks_; ++block) {
      arguments.of_block = static_cast<std::uint32_t>(block);
      convolve_->launch(shape_, arguments);
    }
  }

 private:
  ConvTranspose3d convolution_;
  KernelConvolution sizes_;
  Tiles tiles_;
  std::shared_ptr<CudaModule> module_;
  std::unique_ptr<CudaKernel> pack_, convolve_;
  std::int64_t channel_blocks_;
  std::int64_t alike_blocks_ = 0;
  LaunchShape shape_;
  std::vector<Buffer> buffers_;
  Prepared prepared_{};
};

}  // namespace

std::optional<std::string> wgmma_refuses(const ConvTranspose3d& sizes) {
  if (auto reason = refuses_all_but_doubling(sizes)) return reason;
  if (sizes.in_channels > tile_channels) {
    return fmt::format("needs at most {} input channels, not {}", tile_channels, sizes.in_channels);
  }
  return std::nullopt;
}

bool add_wgmma_variant(const WgmmaVariant& variant) {
  const Parameter long_share = {"long_share", integers({0, 25, 50, 75}), "50"};
  const Parameter keep_x = {"keep_x", integers({0, 1}), "1"};
  const Parameter store = {
      "store", {"store_default", "store_streaming", "store_l2"}, "store_default"};
  std::vector<Parameter> parameters;
  if (variant.products == 3) {
    parameters = {{"alike_share", integers({50, 52, 53, 54, 55, 56, 58}), "54"},
                  long_share,
                  {"alike_slots", integers({3, 4}), "4"},
                  {"mixed_slots", integers({3, 4}), "4"},
                  keep_x,
                  store};
  } else {
    parameters = {long_share, {"slots", integers({3, 4}), "4"}, keep_x, store};
  }
  return add_cuda_variant({
      .name = variant.name,
      .idea = variant.idea,
      .source = variant.source,
      .precision = variant.precision,
      .parameters = ParameterSpace(std::move(parameters)),
      .plan_parameters = {"alike_share", "long_share"},
      .macros = {{"FORMAT", std::to_string(variant.format)},
                 {"PRODUCTS", std::to_string(variant.products)}},
      .refuses = wgmma_refuses,
      .plan = [products = variant.products](const CudaRequest& request) -> std::unique_ptr<Plan> {
        return std::make_unique<WgmmaPlan>(request, products);
      },
      .only_architecture = 90,
  });
}

}  // namespace fusebench::conv_transpose3d_residual
