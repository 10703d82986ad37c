#include "variants/conv_transpose3d_residual/parity_mma.hpp"

#include <fmt/format.h>

#include "variants/conv_transpose3d_residual/cuda_variant.hpp"
#include "variants/conv_transpose3d_residual/parity_plan.hpp"
#include "variants/conv_transpose3d_residual/parity_tiles.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

constexpr std::int64_t n_tiles = 4;  // as in the kernel

std::int64_t threads_of(const Configuration& k) {
  const std::int64_t across_positions = k.integer("rows") * k.integer("columns") / 8 / n_tiles;
  return 32 * (block_channels / 16 / k.integer("m_tiles")) * across_positions;
}

std::int64_t halo_bytes(const Configuration& k, std::int64_t value_bytes) {
  return halo_positions(k) * (chunk_channels * value_bytes + 16);
}

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
           {"blocks", variant.blocks, variant.blocks.back()},
           {"store", {"store_default", "store_streaming"}, "store_default"}},
          // Two blocks are asked for only where the compiler would just miss them.
          {"rows * columns in (64, 128)", "columns == 32 or store == 'store_default'",
           "blocks == 0 or (rows * columns == 128 and m_tiles == 2)"}),
      .refuses = refuses_all_but_doubling,
      .plan = [variant](const CudaRequest& request) -> std::unique_ptr<Plan> {
        const Configuration& k = request.configuration;
        return make_parity_plan(
            {.name = request.convolution.in_channels > chunk_channels ? "double_chunks"
                                                                      : "double_one_chunk",
             .threads = threads_of(k),
             .dynamic_shared_bytes = halo_bytes(k, variant.value_bytes),
             .weight_bytes = variant.value_bytes},
            request);
      },
      .oldest_architecture = 80,
  });
}

}  // namespace fusebench::conv_transpose3d_residual
