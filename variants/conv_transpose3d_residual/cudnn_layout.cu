// Tiled transposes between channels first and channels last, and what else goes before and after cuDNN's
// fused engines.
#ifdef __CUDACC_RTC__
#include "variants/residual_epilogue/epilogue.cuh"

typedef unsigned short u16;

constexpr u32 block_size = 256;
constexpr u32 tile_positions = 64;
constexpr u32 tile_channels_in = 32;  // to channels last
constexpr u32 tile_channels_out =
    64;  // to channels first: a tile is one piece of memory for 64 channels

// The host's.
struct MatrixBatch {
  u64 per, outer, inner, row;
  __device__ u64 begin(u64 item) const { return item / per * outer + item % per * inner; }
};
struct Transposition {
  u64 items, given, positions, channels, padded;
  MatrixBatch from, to;
};

// A block's tile.
struct Tile {
  __device__ Tile(const Transposition& t, u64 channels, u32 tile_channels) {
    const u64 channel_tiles = (channels + tile_channels - 1) / tile_channels;
    const u64 position_tiles = (t.positions + tile_positions - 1) / tile_positions;
    const u64 rest = blockIdx.x / channel_tiles;
    channel = blockIdx.x % channel_tiles * tile_channels;
    position = rest % position_tiles * tile_positions;
    item = rest / position_tiles;
  }
  u64 item, position, channel;
};

template <typename Store>
__device__ void pack(const float* from, const Transposition& t, const Store& store) {
  __shared__ float tile[tile_channels_in][tile_positions + 1];
  const Tile at(t, t.padded, tile_channels_in);
  const float* source = from + t.from.begin(at.item);
  const u32 column = threadIdx.x % tile_positions;
  const u64 position = at.position + column;
#pragma unroll
  for (u32 c = threadIdx.x / tile_positions; c < tile_channels_in;
       c += block_size / tile_positions) {
    const u64 channel = at.channel + c;
    const bool there = at.item < t.given && channel < t.channels && position < t.positions;
    tile[c][column] = there ? source[channel * t.from.row + position] : 0.0f;
  }
  __syncthreads();
  const u32 c = threadIdx.x % tile_channels_in;
  const u64 channel = at.channel + c;
  if (channel >= t.padded) return;
#pragma unroll
  for (u32 p = threadIdx.x / tile_channels_in; p < tile_positions;
       p += block_size / tile_channels_in) {
    if (at.position + p >= t.positions) return;
    store(t.to.begin(at.item) + (at.position + p) * t.to.row + channel, tile[c][p]);
  }
}

__device__ inline u16 to_bf16(float x) {
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
__device__ inline float from_bf16(u16 bits) { return __uint_as_float(u32(bits) << 16); }

extern "C" __global__ void __launch_bounds__(block_size)
    to_channels_last(float* to, const float* from, Transposition t) {
  pack(from, t, [&](u64 index, float x) { to[index] = x; });
}

extern "C" __global__ void __launch_bounds__(block_size)
    to_channels_last_bf16x3(u16* to, const float* from, Transposition t) {
  pack(from, t, [&](u64 index, float x) {
    const u16 high = to_bf16(x);
    to[index] = high;
    to[index + t.padded] = high;
    to[index + 2 * t.padded] = to_bf16(x - from_bf16(high));
  });
}

// rows(item)(position): where that position's channels begin in `from`.
template <typename Rows, typename Store>
__device__ void unpack(const float* from, const Transposition& t, const Rows& rows,
                       const Store& store) {
  __shared__ float tile[tile_channels_out][tile_positions + 1];
  const Tile at(t, t.channels, tile_channels_out);
  const auto row = rows(at.item);
  const float* source = from + at.channel;
  if (t.from.row % 4 == 0 && t.padded % 4 == 0) {
    constexpr u32 quads = tile_channels_out / 4;
    const u32 c = threadIdx.x % quads * 4;
    float4 value[tile_positions * quads / block_size];
#pragma unroll
    for (u32 k = 0; k < tile_positions * quads / block_size; ++k) {
      const u32 p = threadIdx.x / quads + k * (block_size / quads);
      const bool there = at.channel + c < t.padded && at.position + p < t.positions;
      const float* quad = source + row(at.position + p) + c;
      value[k] = there ? __ldg(reinterpret_cast<const float4*>(quad))
                       : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
#pragma unroll
    for (u32 k = 0; k < tile_positions * quads / block_size; ++k) {
      const u32 p = threadIdx.x / quads + k * (block_size / quads);
      tile[c][p] = value[k].x;
      tile[c + 1][p] = value[k].y;
      tile[c + 2][p] = value[k].z;
      tile[c + 3][p] = value[k].w;
    }
  } else {
    const u32 c = threadIdx.x % tile_channels_out;
    for (u32 p = threadIdx.x / tile_channels_out; p < tile_positions;
         p += block_size / tile_channels_out) {
      const bool there = at.channel + c < t.channels && at.position + p < t.positions;
      tile[c][p] = there ? source[row(at.position + p) + c] : 0.0f;
    }
  }
  __syncthreads();
  const u32 p = threadIdx.x % tile_positions;
  if (at.position + p >= t.positions) return;
  const u64 target = t.to.begin(at.item) + at.position + p;
#pragma unroll 4
  for (u32 c = threadIdx.x / tile_positions; c < tile_channels_out;
       c += block_size / tile_positions) {
    const u64 channel = at.channel + c;
    if (channel >= t.channels) return;
    store(target + channel * t.to.row, channel, tile[c][p]);
  }
}

// As t.from says.
__device__ inline auto dense_rows(const Transposition& t) {
  return [&t](u64 item) {
    return [&t, begin = t.from.begin(item)](u64 position) { return begin + position * t.from.row; };
  };
}

// The host's.
struct Eighths {
  FastDivisor out_plane, out_width;
  u64 height, width;  // of an eighth
};

// Of eight tensors one behind the other, each of the outputs of one parity.
__device__ inline auto parity_rows(const Transposition& t, const Eighths& eighths) {
  return [&](u64 item) {
    return [&, item](u64 position) {
      const u64 depth = eighths.out_plane.quotient(position);
      const u64 in_plane = position - depth * eighths.out_plane.divisor;
      const u64 row = eighths.out_width.quotient(in_plane);
      const u64 column = in_plane - row * eighths.out_width.divisor;
      const u64 parity = (depth & 1) << 2 | (row & 1) << 1 | (column & 1);
      const u64 within = (depth / 2 * eighths.height + row / 2) * eighths.width + column / 2;
      return ((parity * t.items + item) * (t.positions / 8) + within) * t.from.row;
    };
  };
}

extern "C" __global__ void __launch_bounds__(block_size)
    to_channels_first(float* to, const float* from, Transposition t) {
  unpack(from, t, dense_rows(t), [&](u64 index, u64, float x) { to[index] = x; });
}

extern "C" __global__ void __launch_bounds__(block_size)
    parities_to_channels_first(float* to, const float* from, Transposition t, Eighths eighths) {
  unpack(from, t, parity_rows(t, eighths), [&](u64 index, u64, float x) { to[index] = x; });
}

extern "C" __global__ void __launch_bounds__(block_size)
    to_channels_first_epilogue(float* to, const float* from, const float* conv_bias, const float* b,
                               Transposition t) {
  unpack(from, t, dense_rows(t), [&](u64 index, u64 channel, float c) {
    if (conv_bias != nullptr) c = __fadd_rn(c, __ldg(conv_bias + channel));
    to[index] = exact_order(c, __ldg(b + channel));
  });
}

// One thread an element of all filters. k = 1 is the tap of an even output, 2 and 0 the first and the
// second of an odd one.
template <typename Store>
__device__ void filters(const float* w, u64 ci, u64 co, u64 ci_padded, u64 co_padded,
                        const Store& store) {
  const u64 index = blockIdx.x * u64(block_size) + threadIdx.x;
  if (index >= 27 * co_padded * ci_padded) return;
  const u64 in = index % ci_padded;
  const u64 out = index / ci_padded % co_padded;
  const u32 tap = index / ci_padded / co_padded;
  const u32 k[3] = {tap / 9, tap / 3 % 3, tap % 3};
  u32 parity = 0, of_parity = 1, position = 0;
  for (u32 i = 0; i < 3; ++i) {
    const u32 odd = k[i] != 1;
    parity = 2 * parity + odd;
    of_parity *= 1 + odd;
    position = position * (1 + odd) + (k[i] == 0);
  }
  u32 before = 0;
  for (u32 i = 0; i < parity; ++i) before += (1 + (i >> 2)) * (1 + (i >> 1 & 1)) * (1 + (i & 1));
  const float x = in < ci && out < co ? w[(in * co + out) * 27 + tap] : 0.0f;
  store((before * co_padded + out * of_parity + position) * ci_padded, in, x);
}

extern "C" __global__ void __launch_bounds__(block_size)
    parity_filters(float* to, const float* w, u64 ci, u64 co, u64 ci_padded, u64 co_padded) {
  filters(w, ci, co, ci_padded, co_padded, [&](u64 row, u64 in, float x) { to[row + in] = x; });
}

extern "C" __global__ void __launch_bounds__(block_size)
    parity_filters_bf16x3(u16* to, const float* w, u64 ci, u64 co, u64 ci_padded, u64 co_padded) {
  filters(w, ci, co, ci_padded, co_padded, [&](u64 row, u64 in, float x) {
    const u16 high = to_bf16(x);
    u16* at = to + 3 * row + in;
    at[0] = high;
    at[ci_padded] = to_bf16(x - from_bf16(high));
    at[2 * ci_padded] = high;
  });
}

extern "C" __global__ void __launch_bounds__(block_size)
    biases(float* to, const float* conv_bias, const float* b, u64 channels, u64 padded) {
  const u64 i = blockIdx.x * u64(block_size) + threadIdx.x;
  if (i >= padded) return;
  to[i] = i < channels && conv_bias != nullptr ? conv_bias[i] : 0.0f;
  to[padded + i] = i < channels ? b[i] : 0.0f;
}

#else
#include "variants/conv_transpose3d_residual/cudnn_layout.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

constexpr std::int64_t block_size = 256;
constexpr std::uint64_t tile_positions = 64;

LaunchShape tiles(const Transposition& t, std::uint64_t channels, std::uint64_t tile_channels) {
  const std::uint64_t blocks = t.items * ((t.positions + tile_positions - 1) / tile_positions) *
                               ((channels + tile_channels - 1) / tile_channels);
  return {.blocks = blocks_for(static_cast<std::int64_t>(blocks), 1), .threads = block_size};
}

LaunchShape threads(std::int64_t work) {
  return {.blocks = blocks_for(work, block_size), .threads = block_size};
}

std::uint64_t u64(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// The kernels' struct of that name.
struct Eighths {
  explicit Eighths(const PerDimension& eighth)
      : out_plane(4 * eighth[1] * eighth[2]),
        out_width(2 * eighth[2]),
        height(u64(eighth[1])),
        width(u64(eighth[2])) {}
  FastDivisor out_plane, out_width;
  std::uint64_t height, width;
};

}  // namespace

KernelSpec LayoutKernels::spec() { return {.source = __FILE__, .macros = {}, .contract = false}; }

LayoutKernels::LayoutKernels(std::shared_ptr<CudaModule> module)
    : module_(std::move(module)),
      to_channels_last_(module_->kernel("to_channels_last")),
      to_channels_last_bf16x3_(module_->kernel("to_channels_last_bf16x3")),
      to_channels_first_(module_->kernel("to_channels_first")),
      parities_to_channels_first_(module_->kernel("parities_to_channels_first")),
      to_channels_first_epilogue_(module_->kernel("to_channels_first_epilogue")),
      parity_filters_(module_->kernel("parity_filters")),
      parity_filters_bf16x3_(module_->kernel("parity_filters_bf16x3")),
      biases_(module_->kernel("biases")) {}

void LayoutKernels::to_channels_last(void* to, const float* from, const Transposition& t) const {
  to_channels_last_->launch(tiles(t, t.padded, 32), to, from, t);
}

void LayoutKernels::to_channels_last_bf16x3(void* to, const float* from,
                                            const Transposition& t) const {
  to_channels_last_bf16x3_->launch(tiles(t, t.padded, 32), to, from, t);
}

void LayoutKernels::to_channels_first(float* to, const void* from, const Transposition& t) const {
  to_channels_first_->launch(tiles(t, t.channels, 64), to, from, t);
}

void LayoutKernels::parities_to_channels_first(float* to, const void* from, const Transposition& t,
                                               const PerDimension& eighth) const {
  parities_to_channels_first_->launch(tiles(t, t.channels, 64), to, from, t, Eighths(eighth));
}

void LayoutKernels::to_channels_first_epilogue(float* to, const void* from, const float* conv_bias,
                                               const float* b, const Transposition& t) const {
  to_channels_first_epilogue_->launch(tiles(t, t.channels, 64), to, from, conv_bias, b, t);
}

void LayoutKernels::parity_filters(void* to, const float* w, std::int64_t ci, std::int64_t co,
                                   std::int64_t ci_padded, std::int64_t co_padded) const {
  parity_filters_->launch(threads(27 * ci_padded * co_padded), to, w, u64(ci), u64(co),
                          u64(ci_padded), u64(co_padded));
}

void LayoutKernels::parity_filters_bf16x3(void* to, const float* w, std::int64_t ci,
                                          std::int64_t co, std::int64_t ci_padded,
                                          std::int64_t co_padded) const {
  parity_filters_bf16x3_->launch(threads(27 * ci_padded * co_padded), to, w, u64(ci), u64(co),
                                 u64(ci_padded), u64(co_padded));
}

void LayoutKernels::biases(void* to, const float* conv_bias, const float* b, std::int64_t channels,
                           std::int64_t padded) const {
  biases_->launch(threads(padded), to, conv_bias, b, u64(channels), u64(padded));
}

}  // namespace fusebench::conv_transpose3d_residual
#endif
