// The doubling as implicit matrix products on tensor cores, by mma.sync. A block stages its input positions
// with their halo once and makes all eight outputs of each from them. Rows of the product are output
// channels, its columns positions, so that a thread holds four neighbouring outputs in the end.
#pragma once

#include "variants/conv_transpose3d_residual/parity_block.cuh"
#include "variants/conv_transpose3d_residual/parity_formats.cuh"
#include "variants/conv_transpose3d_residual/parity_weights.cuh"

constexpr u32 n_tiles = 4;  // of a warp, of 8 positions each
constexpr u32 warps_across_channels = block_fragments / M_TILES;
constexpr u32 warps_across_positions = ROWS * COLUMNS / 8 / n_tiles;
constexpr u32 threads = 32 * warps_across_channels * warps_across_positions;
static_assert(n_tiles * 8 % COLUMNS == 0 || COLUMNS % (n_tiles * 8) == 0,
              "a warp's positions must lie alike in every warp");

// Bytes from a position to the next: of 8 positions 16 bytes lie in different banks.
template <typename Format>
constexpr u32 pitch = chunk_channels* Format::value_bytes + 16;

// What a warp multiplies in one step: the weights of one column tap and its positions.
template <typename Format>
struct Multiplier {
  uint4 weights[M_TILES][2];
  uint4 inputs[n_tiles];

  __device__ void load_weights(const uint4* from) {
#pragma unroll
    for (u32 m = 0; m < M_TILES; ++m) {
      weights[m][0] = __ldg(from + m * (2 * 32));
      weights[m][1] = __ldg(from + m * (2 * 32) + 32);
    }
  }
  __device__ void load_inputs(u32 address) {
#pragma unroll
    for (u32 n = 0; n < n_tiles; ++n) {
      constexpr u32 p = pitch<Format>;
      inputs[n] = load_matrices(address + halo_position(0, n * 8 / COLUMNS, n * 8 % COLUMNS) * p);
    }
  }
  // Each fragment of weights is replaced by the next tap's as soon as it is done with, so that this is on its
  // way while the others are multiplied.
  //
  // Tensor cores truncate each sum that they make. Where that counts, PROMOTED starts each step's from zero
  // and adds it in float32.
  template <bool PROMOTED>
  __device__ void multiply(float (&sums)[M_TILES][n_tiles][4], const uint4* next_weights) {
#pragma unroll
    for (u32 m = 0; m < M_TILES; ++m) {
      if (PROMOTED) {
        float parts[n_tiles][4];
        multiply_fragment<true>(parts, m, next_weights);
#pragma unroll
        for (u32 n = 0; n < n_tiles; ++n) {
#pragma unroll
          for (u32 i = 0; i < 4; ++i) sums[m][n][i] += parts[n][i];
        }
      } else {
        multiply_fragment<false>(sums[m], m, next_weights);
      }
    }
  }

 private:
  template <bool FROM_ZERO>
  __device__ void multiply_fragment(float (&sums)[n_tiles][4], u32 m, const uint4* next_weights) {
#pragma unroll
    for (u32 product = 0; product < Format::products; ++product) {
      const u32 part = Format::weight_part(product);
#pragma unroll
      for (u32 n = 0; n < n_tiles; ++n) {
        const bool second = Format::input_part(product) == 1;
        const u32 b0 = second ? inputs[n].z : inputs[n].x;
        const u32 b1 = second ? inputs[n].w : inputs[n].y;
        if (FROM_ZERO && product == 0) {
          Format::template multiply<true>(sums[n], weights[m][part], b0, b1);
        } else {
          Format::template multiply<false>(sums[n], weights[m][part], b0, b1);
        }
      }
      if (product == Format::last_product(part)) {
        weights[m][part] = __ldg(next_weights + m * (2 * 32) + part * 32);
      }
    }
  }
};

// A warp's part of the block: its first fragment of channels and its first position.
struct WarpPart {
  u32 fragment, position, lane;
  __device__ explicit WarpPart(u32 thread)
      : fragment(thread / 32 % warps_across_channels * M_TILES),
        position(thread / 32 / warps_across_channels * n_tiles * 8),
        lane(thread % 32) {}
};

// The outputs of even columns are in sums[0], of odd ones in sums[1].
__device__ inline void store_sums(const DoublingArguments& arguments, const Convolution& s,
                                  const BlockState& state, u32 odd_d, u32 odd_h,
                                  const float (&sums)[2][M_TILES][n_tiles][4]) {
  const WarpPart part(opaque(threadIdx.x));
  const Tile& tile = state.tile;
  const u32 channel = part.fragment * 16 + part.lane / 4;
  const u32 row = part.position / COLUMNS;
  const u32 column = part.position % COLUMNS + part.lane % 4 * 2;
  const u64 channel_outputs = 8 * s.positions;
  float* const to = outputs_of(arguments.y, s, tile, tile.channel + channel, odd_d, odd_h) +
                    u64(2 * row) * s.output[2] + 2 * column;
#pragma unroll
  for (u32 m = 0; m < M_TILES; ++m) {
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
      const u32 next = m * 16 + half * 8;
      if (tile.channel + channel + next >= s.out_channels) continue;
      const float2 bias = state.biases[channel + next];
#pragma unroll
      for (u32 n = 0; n < n_tiles; ++n) {
        const u32 h = n * 8 / COLUMNS;
        const u32 w = n * 8 % COLUMNS;
        if (tile.h + row + h >= s.input[1] || tile.w + column + w >= s.input[2]) continue;
        const auto value = [&](u32 parity, u32 i) {
          return exact_order(sums[parity][m][n][2 * half + i] + bias.x, bias.y);
        };
        store_four(to + next * channel_outputs + u64(2 * h) * s.output[2] + 2 * w,
                   make_float4(value(0, 0), value(1, 0), value(0, 1), value(1, 1)), arguments.wide,
                   tile.w + column + w + 1 < s.input[2]);
      }
    }
  }
}

template <typename Format, bool ONE_CHUNK>
__device__ void double_volume(const DoublingArguments& arguments, const Convolution& s) {
  extern __shared__ __align__(128) unsigned char halo[];
  __shared__ BlockState states[1];
  // Of one chunk tensor cores may add up the products, unless the format promises too much for that.
  constexpr bool promoted = !ONE_CHUNK || Format::always_promoted;
  const u32 chunks = ONE_CHUNK ? 1 : (s.in_channels + chunk_channels - 1) / chunk_channels;

  const auto stage = [&](u32 chunk) {
    stage_halo<threads>(arguments.x, s, states[opaque(0)].tile, chunk * chunk_channels,
                        [&](u32 position, u32 octet, const float(&values)[8]) {
                          Format::put_inputs(halo + position * pitch<Format>, octet, values);
                        });
  };
  begin_block(states[0], arguments, s);
  if (ONE_CHUNK) stage(0);
  __syncthreads();

  const WarpPart part(threadIdx.x);
  // A lane's row of the four matrices: k and k + half of the first part, then of the second.
  const u32 inputs =
      shared_address(halo) +
      (halo_position(0, part.position / COLUMNS, part.position % COLUMNS) + part.lane % 8) *
          pitch<Format> +
      part.lane / 16 * Format::part_bytes + part.lane / 8 % 2 * 16;
  constexpr u32 lane_words = 4;
  constexpr u32 tap_lanes = tap_words / lane_words;
  const uint4* weights = static_cast<const uint4*>(arguments.packed) +
                         u64(states[0].tile.channel / block_channels) * all_visits * chunks *
                             (Format::visit_words / lane_words) +
                         part.fragment * (2 * 32) + part.lane;
  // The last load of all reads what follows the last block's weights, for which there is room.
  Multiplier<Format> multiplier;
  multiplier.load_weights(weights);

#pragma unroll 1
  for (u32 parities = 0; parities < 4; ++parities) {
    const u32 begin = visits_before(parities / 2, parities % 2);
    const u32 all = (1 + parities / 2) * (1 + parities % 2);
    // Behind the last plane there is nothing to visit.
    const u32 visits = states[opaque(0)].tile.d + 1 < s.input[0] ? all : 1 + parities % 2;
    float sums[2][M_TILES][n_tiles][4] = {};
#pragma unroll 1
    for (u32 chunk = 0; chunk < chunks; ++chunk) {
      if (!ONE_CHUNK) {
        __syncthreads();
        stage(chunk);
        __syncthreads();
        multiplier.load_weights(weights);
      }
      // One loop over visits and their steps: unrolled, it would need more registers than there are.
#pragma unroll 1
      for (u32 i = begin * Format::steps; i < (begin + visits) * Format::steps; ++i) {
        const u32 visit = i / Format::steps;
        const u32 here =
            inputs +
            halo_position(from_next_plane >> visit & 1, from_next_row >> visit & 1, 0) *
                pitch<Format> +
            i % Format::steps * Format::step_bytes;
#pragma unroll
        for (u32 slot = 0; slot < 3; ++slot) {
          if (slot != 1) multiplier.load_inputs(here + slot / 2 * pitch<Format>);
          weights += tap_lanes;
          multiplier.template multiply<promoted>(sums[slot != 0], weights);
        }
      }
      if (visits != all) {
        weights += (all - visits) * (Format::visit_words / lane_words);
        multiplier.load_weights(weights);
      }
    }
    store_sums(arguments, s, states[opaque(0)], parities / 2, parities % 2, sums);
  }

  repair_block<threads>(arguments, s, states[opaque(0)]);
}

extern "C" __global__ void pack(u32* packed, u32* flags, const float* w, Convolution s) {
  pack_weights<Operands>(packed, flags, w, s);
}
#if BLOCKS == 0  // as many as the compiler's own choice of registers allows
#define ONE_CHUNK_BOUNDS __launch_bounds__(threads)
#else
#define ONE_CHUNK_BOUNDS __launch_bounds__(threads, BLOCKS)
#endif
// For up to 32 input channels.
extern "C" __global__ void ONE_CHUNK_BOUNDS double_one_chunk(
    const __grid_constant__ DoublingArguments arguments, const __grid_constant__ Convolution s) {
  double_volume<Operands, true>(arguments, s);
}
extern "C" __global__ void __launch_bounds__(threads)
    double_chunks(const __grid_constant__ DoublingArguments arguments,
                  const __grid_constant__ Convolution s) {
  double_volume<Operands, false>(arguments, s);
}
