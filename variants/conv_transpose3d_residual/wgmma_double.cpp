#include "variants/conv_transpose3d_residual/wgmma_double.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/error.hpp"
#include "variants/conv_transpose3d_residual/convolution.hpp"
#include "variants/conv_transpose3d_residual/wgmma_passes.hpp"
#include "variants/conv_transpose3d_residual/wgmma_work.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

// As in wgmma_tiles.cuh and wgmma_weights.cuh.
constexpr std::int64_t all_taps = 27;
constexpr std::int64_t alike_taps = 15;
constexpr std::int64_t mixed_taps = 12;
constexpr std::int64_t pack_threads = 256;
constexpr std::int64_t pack_blocks = all_taps * tile_channels * block_channels / pack_threads;
constexpr std::int64_t channel_bytes = 16;  // 8 of them where operands are not scaled
constexpr std::int64_t counter_words = 64;  // of each block of channels
// Of a batch item. L2 has to hold two or three of them while y passes through it; more was not tried.
constexpr std::int64_t most_fetched_bytes = 4 << 20;

// What tensor maps hold.
constexpr std::int64_t most_mapped_stride = std::int64_t{1} << 40;

// As in wgmma_weights.cuh.
struct Prepared {
  void* weights;
  void* coefficients;
  void* unusual;
  void* counters;
  std::uint32_t blocks[2];
};

// As in wgmma_block.cuh.
struct Arguments {
  TensorMap x_map;
  float* y;
  const float *x, *w, *conv_bias, *b;
  Prepared prepared;
  KernelConvolution s;
  Tiles tiles;
  std::uint32_t of_block, alike_blocks, fetchers, mapped;
};

static_assert(sizeof(Arguments) == 448);

// Two halves of fp16 hold float32's contract only under powers of two, which have a `pack` of their own.
bool scaled(const WgmmaVariant& variant) {
  return variant.format == WgmmaFormat::fp16 && variant.products == 3;
}

// Of an operand's element, with both its halves.
std::int64_t element_bytes(const WgmmaVariant& variant) {
  return variant.products == 3 || variant.format == WgmmaFormat::tf32 ? 4 : 2;
}

// Where all weights leave no room for a ring.
bool two_kinds(const WgmmaVariant& variant) { return element_bytes(variant) == 4; }

std::int64_t tap_bytes(const WgmmaVariant& variant) {
  return std::int64_t{block_channels} * tile_channels * element_bytes(variant);
}

std::int64_t shared_bytes(const WgmmaVariant& variant, const Configuration& configuration) {
  const std::int64_t head_bytes = scaled(variant) ? 2048 : 1024;
  const std::int64_t plane = std::int64_t{plane_rows} * tile_channels * tile_columns * 4;
  const auto ring = [&](const char* slots) { return configuration.integer(slots) * plane; };
  const std::int64_t tap = tap_bytes(variant);
  if (!two_kinds(variant)) return head_bytes + all_taps * tap + ring("slots");
  return head_bytes +
         std::max(alike_taps * tap + ring("alike_slots"), mixed_taps * tap + ring("mixed_slots"));
}

// Of a pass kind; as FUSEBENCH_KERNEL in wgmma_pass.cuh.
std::string kernel_name(const char* name, PassKind kind) {
  constexpr const char* endings[] = {"", "_first", "_middle", "_last"};
  return std::string(name) + endings[static_cast<std::size_t>(kind)];
}

class WgmmaPlan final : public Plan {
 public:
  WgmmaPlan(const CudaRequest& request, const WgmmaVariant& variant)
      : device_(&request.device),
        convolution_(request.convolution),
        tiles_(tiles_of(request.convolution)),
        modules_(request.modules),
        channel_blocks_(pieces(convolution_.out_channels, block_channels)),
        pack_blocks_(scaled(variant) ? block_channels : pack_blocks) {
    const DeviceTraits& traits = request.device.traits();
    const Configuration& configuration = request.configuration;
    const std::int64_t shared = shared_bytes(variant, configuration);
    if (shared > traits.shared_memory_bytes) {
      throw Unavailable("a block needs {} bytes of shared memory; {} has {}", shared, traits.name,
                        traits.shared_memory_bytes);
    }
    // No more blocks than there is work for, and at least one of each kind.
    const std::int64_t kinds = two_kinds(variant) ? 2 : 1;
    const std::int64_t blocks = std::clamp<std::int64_t>(
        kinds * tiles_.items, kinds, std::max<std::int64_t>(kinds, traits.processors));
    alike_blocks_ = blocks;
    if (kinds == 2) {
      alike_blocks_ = std::clamp<std::int64_t>(blocks * configuration.integer("alike_share") / 100,
                                               1, blocks - 1);
    }
    share_out(tiles_, blocks / kinds, configuration.integer("runs"),
              configuration.integer("singles"));
    prepared_.blocks[0] = static_cast<std::uint32_t>(alike_blocks_);
    prepared_.blocks[1] = static_cast<std::uint32_t>(blocks - alike_blocks_);
    const std::int64_t channel_bytes_of_x = convolution_.input_positions() * 4;
    if (std::min<std::int64_t>(convolution_.in_channels, tile_channels) * channel_bytes_of_x <=
            most_fetched_bytes &&
        convolution_.in_channels * channel_bytes_of_x % 16 == 0) {
      // No more than there are segments of a batch item to fetch with.
      fetchers_ = std::min<std::int64_t>(
          configuration.integer("fetchers"),
          std::int64_t{tiles_.plane_items} *
              (tiles_.runs > 0 ? tiles_.per_run.divisor : tiles_.depth.divisor));
    }
    // Else elements are loaded one by one.
    maps_x_ = request.device.has_tensor_maps() && convolution_.input[2] % 4 == 0 &&
              convolution_.in_channels * channel_bytes_of_x < most_mapped_stride;
    shape_ = {.blocks = static_cast<std::uint32_t>(blocks),
              .threads = 512,
              .dynamic_shared_bytes = static_cast<std::uint32_t>(shared),
              .overlapping = true};
    const auto part_of = [&](std::int64_t bytes) {
      buffers_.push_back(request.device.allocate(static_cast<std::size_t>(bytes)));
      return buffers_.back().address();
    };
    prepared_.weights = part_of(channel_blocks_ * all_taps * tap_bytes(variant));
    prepared_.coefficients = part_of(channel_blocks_ * block_channels * channel_bytes);
    prepared_.unusual = part_of(channel_blocks_ * pack_blocks * 4);
    prepared_.counters = part_of(channel_blocks_ * counter_words * 4);
    const std::vector<PassKind> pass_kinds = pass_kinds_of(convolution_.in_channels);
    for (const Pass& pass : passes_of(convolution_.in_channels)) {
      const auto kind =
          std::find(pass_kinds.begin(), pass_kinds.end(), pass.kind) - pass_kinds.begin();
      CudaModule& module = *modules_.at(static_cast<std::size_t>(kind));
      launches_.push_back({pass, KernelConvolution(convolution_),
                           module.kernel(kernel_name("pack", pass.kind)),
                           module.kernel(kernel_name("convolve", pass.kind))});
      // Where the kernel looks for the pass's channels; in_channels still says how far apart batch items are.
      launches_.back().sizes.in_of_group = static_cast<std::uint32_t>(pass.channels);
    }
  }

  void enqueue(const TensorTable& tensors) override {
    const bool aligned = reinterpret_cast<std::uintptr_t>(tensors.input(tensor_x)) % 16 == 0;
    // Passes share y, the packed weights and the counters, and nothing of one may be under way beside anything of another.
    // Only `convolve` may start before the kernel in front of it has ended, and it touches nothing of these before it has
    // waited for that. `pack` is an ordinary launch: it starts when all kernels of the pass before have ended and what they
    // wrote is seen.
    for (const Launches& of : launches_) {
      const float* const x =
          tensors.input(tensor_x) + of.pass.first_channel * convolution_.input_positions();
      const bool mapped = aligned && maps_x_;
      Arguments arguments = {mapped ? device_->tensor_map(boxes_of_x(x, of.pass)) : TensorMap{},
                             tensors.output(),
                             x,
                             tensors.input(tensor_w) + of.pass.first_channel *
                                                           convolution_.out_channels *
                                                           convolution_.taps(),
                             conv_bias_of(convolution_, tensors),
                             tensors.input(tensor_b),
                             prepared_,
                             of.sizes,
                             tiles_,
                             0,
                             static_cast<std::uint32_t>(alike_blocks_),
                             static_cast<std::uint32_t>(aligned ? fetchers_ : 0),
                             mapped ? 1U : 0U};
      of.pack->launch({.blocks = static_cast<std::uint32_t>(channel_blocks_ * pack_blocks_),
                       .threads = static_cast<std::uint32_t>(pack_threads)},
                      arguments);
      for (std::int64_t block = 0; block < channel_blocks_; ++block) {
        arguments.of_block = static_cast<std::uint32_t>(block);
        of.convolve->launch(shape_, arguments);
      }
    }
  }

 private:
  // A tile's plane is a box: [row][channel][column].
  TensorBoxes boxes_of_x(const float* x, const Pass& pass) const {
    const auto unsigned_of = [](std::int64_t count) { return static_cast<std::uint64_t>(count); };
    const auto [depth, height, width] = convolution_.input;
    return {.address = x,
            .extents = {unsigned_of(width), unsigned_of(pass.channels), unsigned_of(height),
                        unsigned_of(depth), unsigned_of(convolution_.n)},
            .strides = {unsigned_of(convolution_.input_positions() * 4), unsigned_of(width * 4),
                        unsigned_of(height * width * 4),
                        unsigned_of(convolution_.in_channels * convolution_.input_positions() * 4)},
            .box = {tile_columns, tile_channels, plane_rows, 1, 1}};
  }

  struct Launches {
    Pass pass;
    KernelConvolution sizes;
    std::unique_ptr<CudaKernel> pack, convolve;
  };

  CudaDevice* device_;
  ConvTranspose3d convolution_;
  Tiles tiles_;
  std::vector<std::shared_ptr<CudaModule>> modules_;
  std::vector<Launches> launches_;
  std::int64_t channel_blocks_;
  std::int64_t pack_blocks_;  // of a block of channels
  std::int64_t alike_blocks_ = 0;
  std::int64_t fetchers_ = 0;
  bool maps_x_ = false;
  LaunchShape shape_;
  std::vector<Buffer> buffers_;
  Prepared prepared_{};
};

std::vector<Macros> modules(const ConvTranspose3d& sizes) {
  std::vector<Macros> all;
  for (const PassKind kind : pass_kinds_of(sizes.in_channels)) {
    all.push_back({{"PASS", std::to_string(static_cast<int>(kind))}});
  }
  return all;
}

std::optional<std::string> refuses(const ConvTranspose3d& sizes) {
  if (auto reason = refuses_all_but_doubling(sizes)) return reason;
  if (sizes.in_channels > most_in_channels) {
    return fmt::format("needs at most {} input channels, not {}", most_in_channels,
                       sizes.in_channels);
  }
  return std::nullopt;
}

}  // namespace

bool add_wgmma_variant(const WgmmaVariant& variant) {
  const bool two = two_kinds(variant);
  std::vector<Parameter> parameters;
  if (two) {
    parameters = {{"alike_share", integers({50, 52, 53, 54, 55, 56, 58}), "53"},
                  {"alike_slots", integers({3, 4, 5}), "5"},
                  {"mixed_slots", integers({4, 6}), "6"}};
  } else {
    parameters = {{"slots", integers({3, 4, 5}), "5"}};
  }
  const std::vector<Parameter> common = {
      {"runs", integers({4, 8, 16, 32}), two && !scaled(variant) ? "16" : "8"},
      {"singles", integers({0, 2, 4, 6}), scaled(variant) ? "2" : "4"},
      {"fetchers", integers({0, 8, 16, 32}), two ? "16" : "32"},
      {"keep_x", integers({0, 1}), "1"},
      {"store",
       {"store_default", "store_l2"},
       two && !scaled(variant) ? "store_default" : "store_l2"}};
  parameters.insert(parameters.end(), common.begin(), common.end());
  return add_cuda_variant({
      .name = variant.name,
      .idea = variant.idea,
      .source = variant.source,
      .precision = variant.precision,
      .parameters = ParameterSpace(std::move(parameters)),
      .plan_parameters = {"alike_share", "runs", "singles", "fetchers"},
      .macros = {{"FORMAT", std::to_string(static_cast<int>(variant.format))},
                 {"PRODUCTS", std::to_string(variant.products)}},
      .modules = modules,
      .refuses = refuses,
      .plan = [variant](const CudaRequest& request) -> std::unique_ptr<Plan> {
        return std::make_unique<WgmmaPlan>(request, variant);
      },
      .only_architecture = 90,
  });
}

}  // namespace fusebench::conv_transpose3d_residual
