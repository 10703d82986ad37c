// The parities on the CUDA cores: how near float32 without tensor cores comes. A thread multiplies eight
// output channels by two pairs of columns, weights of a visit arrive while the one before is worked on.
#ifdef __CUDACC_RTC__
#include "variants/conv_transpose3d_residual/copy_async.cuh"
#include "variants/conv_transpose3d_residual/parity_block.cuh"
#include "variants/conv_transpose3d_residual/parity_weights.cuh"

constexpr u32 threads =
    64 * ROWS;  // 8 across a row's pairs of columns, 8 across channels, in every row
constexpr u32 thread_channels = 8;
static_assert(COLUMNS == 32);

// By input channel, column tap, output channel.
struct PlainWeights {
  static constexpr u32 channel_words = 3 * block_channels;
  static constexpr u32 visit_words = chunk_channels * channel_words;
  __device__ static void put_weights(u32* visit, u32 tap, u32 row, u32 k, float p, float q) {
    u32* const to = visit + k * channel_words + tap * block_channels + row;
    to[0] = __float_as_uint(p);
    to[channel_words] = __float_as_uint(q);
  }
};

// Sums of even columns and odd ones, of columns 2 t, 2 t + 1, 16 + 2 t and 17 + 2 t.
typedef float Sums[2][thread_channels][4];

// One tap: columns[i] holds the inputs of sums[..][i].
__device__ inline void multiply(float (&sums)[thread_channels][4], const float* weights,
                                const float (&columns)[4]) {
#pragma unroll
  for (u32 quad = 0; quad < thread_channels / 4; ++quad) {
    const float4 w = *reinterpret_cast<const float4*>(weights + quad * 4);
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
      sums[quad * 4][i] = fmaf(w.x, columns[i], sums[quad * 4][i]);
      sums[quad * 4 + 1][i] = fmaf(w.y, columns[i], sums[quad * 4 + 1][i]);
      sums[quad * 4 + 2][i] = fmaf(w.z, columns[i], sums[quad * 4 + 2][i]);
      sums[quad * 4 + 3][i] = fmaf(w.w, columns[i], sums[quad * 4 + 3][i]);
    }
  }
}

__device__ inline void store_sums(const DoublingArguments& arguments, const Convolution& s,
                                  const BlockState& state, u32 odd_d, u32 odd_h, u32 channel,
                                  u32 row, u32 column, const Sums& sums) {
  const Tile& tile = state.tile;
  if (tile.h + row >= s.input[1]) return;
#pragma unroll
  for (u32 c = 0; c < thread_channels; ++c) {
    if (tile.channel + channel + c >= s.out_channels) continue;
    const float2 bias = state.biases[channel + c];
    float* const to = outputs_of(arguments.y, s, tile, tile.channel + channel + c, odd_d, odd_h) +
                      u64(2 * row) * s.output[2] + 2 * column;
#pragma unroll
    for (u32 pair = 0; pair < 2; ++pair) {
      const u32 w = tile.w + column + 16 * pair;
      if (w >= s.input[2]) continue;
      const auto value = [&](u32 parity, u32 i) {
        return exact_order(sums[parity][c][2 * pair + i] + bias.x, bias.y);
      };
      store_four(to + 32 * pair, make_float4(value(0, 0), value(1, 0), value(0, 1), value(1, 1)),
                 arguments.wide, w + 1 < s.input[2]);
    }
  }
}

extern "C" __global__ void pack(u32* packed, u32* flags, const float* w, Convolution s) {
  pack_weights<PlainWeights>(packed, flags, w, s);
}

extern "C" __global__ void __launch_bounds__(threads)
    double_by_fma(const __grid_constant__ DoublingArguments arguments,
                  const __grid_constant__ Convolution s) {
  constexpr u32 visit_words = PlainWeights::visit_words;
  extern __shared__ __align__(128) unsigned char halo[];
  float* const weights = reinterpret_cast<float*>(halo);  // of this visit and the next
  float* const inputs = weights + 2 * visit_words;        // by channel, then position
  __shared__ BlockState states[1];
  begin_block(states[0], arguments, s);

  const u32 chunks = (s.in_channels + chunk_channels - 1) / chunk_channels;
  const u32 column = threadIdx.x % 8 * 2;
  const u32 channel = threadIdx.x / 8 % 8 * thread_channels;
  const u32 row = threadIdx.x / 64;
  const float* const packed =
      static_cast<const float*>(arguments.packed) +
      u64(states[0].tile.channel / block_channels) * all_visits * chunks * visit_words;
  const auto fetch = [&](u64 visit, u32 buffer) {
    for (u32 i = threadIdx.x * 4; i < visit_words; i += threads * 4) {
      start_copy(weights + buffer * visit_words + i, packed + visit * visit_words + i);
    }
  };

  u64 place = 0;  // of a visit among the packed
  u32 buffer = 0;
  fetch(place, buffer);
#pragma unroll 1
  for (u32 parities = 0; parities < 4; ++parities) {
    const u32 begin = visits_before(parities / 2, parities % 2);
    const u32 all = (1 + parities / 2) * (1 + parities % 2);
    // Behind the last plane there is nothing to visit.
    const u32 visits = states[opaque(0)].tile.d + 1 < s.input[0] ? all : 1 + parities % 2;
    Sums sums = {};
#pragma unroll 1
    for (u32 chunk = 0; chunk < chunks; ++chunk) {
      if (chunks > 1 || parities == 0) {
        __syncthreads();
        stage_halo<threads>(arguments.x, s, states[opaque(0)].tile, chunk * chunk_channels,
                            [&](u32 position, u32 octet, const float(&values)[8]) {
#pragma unroll
                              for (u32 k = 0; k < 8; ++k) {
                                inputs[(octet * 8 + k) * halo_positions + position] = values[k];
                              }
                            });
      }
      const u32 rest = s.in_channels - chunk * chunk_channels;
      const u32 channels = rest < chunk_channels ? rest : chunk_channels;
#pragma unroll 1
      for (u32 visit = begin; visit < begin + visits; ++visit) {
        wait_for_copies();
        __syncthreads();  // everyone's copies and inputs are there, the other buffer is done with
        place += visit + 1 < begin + visits ? 1 : 1 + all - visits;
        if (place < u64(all_visits) * chunks) fetch(place, 1 - buffer);
        const float* x = inputs + halo_position(from_next_plane >> visit & 1,
                                                row + (from_next_row >> visit & 1), column);
        const float* w = weights + buffer * visit_words + channel;
#pragma unroll 1
        for (u32 k = 0; k < channels; ++k) {
          const float here[4] = {x[0], x[1], x[16], x[17]};
          const float next[4] = {here[1], x[2], here[3], x[18]};
          multiply(sums[0], w, here);
          multiply(sums[1], w + block_channels, here);
          multiply(sums[1], w + 2 * block_channels, next);
          x += halo_positions;
          w += PlainWeights::channel_words;
        }
        buffer = 1 - buffer;
      }
    }
    store_sums(arguments, s, states[opaque(0)], parities / 2, parities % 2, channel, row, column,
               sums);
  }
  repair_block<threads>(arguments, s, states[opaque(0)]);
}

#else
#include "variants/conv_transpose3d_residual/cuda_variant.hpp"
#include "variants/conv_transpose3d_residual/parity_plan.hpp"
#include "variants/conv_transpose3d_residual/parity_tiles.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

const bool registered = add_cuda_variant({
    .name = "cuda_parity_ffma",
    .idea = "the eight parities of each position in one block by float32 FMA, fused: the CUDA "
            "cores' best",
    .source = __FILE__,
    .precision = Precision::float32,
    .parameters =
        ParameterSpace({{"rows", integers({2, 4, 8}), "4"},
                        {"columns", integers({32}), "32"},
                        {"store", {"store_default", "store_streaming"}, "store_default"}}),
    .refuses = refuses_all_but_doubling,
    .plan = [](const CudaRequest& request) -> std::unique_ptr<Plan> {
      constexpr std::int64_t visit_bytes = chunk_channels * 3 * block_channels * 4;
      const Configuration& k = request.configuration;
      return make_parity_plan(
          {.name = "double_by_fma",
           .threads = 64 * k.integer("rows"),
           .dynamic_shared_bytes = 2 * visit_bytes + chunk_channels * halo_positions(k) * 4},
          request);
    },
    .oldest_architecture = 80,
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
#endif
