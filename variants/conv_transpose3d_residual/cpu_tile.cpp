// Compiled once for each vector instruction set: Highway includes this file again by its own name.
#include "variants/conv_transpose3d_residual/cpu_tile.hpp"

#include "harness/core/error.hpp"

#if FUSEBENCH_HAVE_HIGHWAY

// Vectors without a size at compile time cannot be kept in arrays; NEON stands in for SVE.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "variants/conv_transpose3d_residual/cpu_tile.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fusebench::conv_transpose3d_residual::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
using Mask = hn::Mask<Floats>;

// A longer sum of equal signs would drift: its rounding errors need not cancel.
constexpr int64_t longest_sum = 128;

template <int channels, int vectors>
struct Sums {
  Vector of[channels][vectors];

  HWY_INLINE void Clear() {
    for (int c = 0; c < channels; ++c) {
      for (int p = 0; p < vectors; ++p) of[c][p] = hn::Zero(Floats());
    }
  }
  HWY_INLINE void AddTo(const Tile& tile) const {
    const Floats d;
    for (int c = 0; c < channels; ++c) {
      for (int p = 0; p < vectors; ++p) {
        float* const to =
            tile.sums + c * tile.channel_step +
            static_cast<std::ptrdiff_t>(p) * static_cast<std::ptrdiff_t>(hn::Lanes(d));
        hn::StoreU(hn::Add(hn::LoadU(d, to), of[c][p]), d, to);
      }
    }
  }
};

template <bool whole, int channels, int vectors>
HWY_INLINE void AddProducts(const Tile& tile, const TileTap& tap, int64_t begin, int64_t end,
                            const Mask (&valid)[vectors], Sums<channels, vectors>& sums) {
  const Floats d;
  Sums<channels, vectors> local = sums;
  const float* w = tile.w + tap.w + begin * channels;
  const int64_t x_step = tile.x_step;
  const float* x[vectors];
  for (int p = 0; p < vectors; ++p) x[p] = tap.x[p] + begin * x_step;
  for (int64_t in = begin; in < end; ++in) {
    Vector inputs[vectors];
    for (int p = 0; p < vectors; ++p) {
      inputs[p] = hn::LoadU(d, x[p]);
      x[p] += x_step;
    }
    for (int c = 0; c < channels; ++c) {
      const Vector weight = hn::Set(d, w[c]);
      for (int p = 0; p < vectors; ++p) {
        const Vector sum = hn::MulAdd(weight, inputs[p], local.of[c][p]);
        local.of[c][p] = whole ? sum : hn::IfThenElse(valid[p], sum, local.of[c][p]);
      }
    }
    w += channels;
  }
  sums = local;
}

template <int channels, int vectors>
void RunTile(const Tile& tile) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int c = 0; c < channels; ++c) {
    for (int p = 0; p < vectors; ++p) {
      hn::StoreU(hn::Set(d, tile.start[c]), d, tile.sums + c * tile.channel_step + p * lanes);
    }
  }
  Sums<channels, vectors> sums;
  sums.Clear();
  int64_t summed = 0;
  for (int64_t t = 0; t < tile.tap_count; ++t) {
    const TileTap& tap = tile.taps[t];
    Mask valid[vectors];
    for (int p = 0; p < vectors; ++p) {
      valid[p] = hn::AndNot(hn::FirstN(d, static_cast<size_t>(tap.first[p])),
                            hn::FirstN(d, static_cast<size_t>(tap.last[p])));
    }
    for (int64_t begin = 0; begin < tile.in_channels;) {
      const int64_t room = longest_sum - summed;
      const int64_t end = begin + room < tile.in_channels ? begin + room : tile.in_channels;
      if (tap.whole) {
        AddProducts<true>(tile, tap, begin, end, valid, sums);
      } else {
        AddProducts<false>(tile, tap, begin, end, valid, sums);
      }
      summed += end - begin;
      begin = end;
      if (summed == longest_sum) {
        sums.AddTo(tile);
        sums.Clear();
        summed = 0;
      }
    }
  }
  if (summed > 0) sums.AddTo(tile);
}

void RunTile4x1(const Tile& tile) { RunTile<4, 1>(tile); }
void RunTile4x2(const Tile& tile) { RunTile<4, 2>(tile); }
void RunTile4x3(const Tile& tile) { RunTile<4, 3>(tile); }
void RunTile8x1(const Tile& tile) { RunTile<8, 1>(tile); }
void RunTile8x2(const Tile& tile) { RunTile<8, 2>(tile); }
void RunTile8x3(const Tile& tile) { RunTile<8, 3>(tile); }
void RunTile12x1(const Tile& tile) { RunTile<12, 1>(tile); }
void RunTile12x2(const Tile& tile) { RunTile<12, 2>(tile); }

int64_t Lanes() { return static_cast<int64_t>(hn::Lanes(Floats())); }

void Interleave(const float* even, const float* odd, float* to, int64_t pairs) {
  const Floats d;
  for (int64_t i = 0; i < pairs; i += Lanes()) {
    hn::StoreInterleaved2(hn::LoadU(d, even + i), hn::LoadU(d, odd + i), d, to + 2 * i);
  }
}

}  // namespace fusebench::conv_transpose3d_residual::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusebench::conv_transpose3d_residual {

HWY_EXPORT(RunTile4x1);
HWY_EXPORT(RunTile4x2);
HWY_EXPORT(RunTile4x3);
HWY_EXPORT(RunTile8x1);
HWY_EXPORT(RunTile8x2);
HWY_EXPORT(RunTile8x3);
HWY_EXPORT(RunTile12x1);
HWY_EXPORT(RunTile12x2);
HWY_EXPORT(Lanes);
HWY_EXPORT(Interleave);

TileFunction tile_function(std::int64_t channels, std::int64_t vectors) {
  switch (10 * channels + vectors) {
    case 41: return [](const Tile& tile) { HWY_DYNAMIC_DISPATCH(RunTile4x1)(tile); };
    case 42: return [](const Tile& tile) { HWY_DYNAMIC_DISPATCH(RunTile4x2)(tile); };
    case 43: return [](const Tile& tile) { HWY_DYNAMIC_DISPATCH(RunTile4x3)(tile); };
    case 81: return [](const Tile& tile) { HWY_DYNAMIC_DISPATCH(RunTile8x1)(tile); };
    case 82: return [](const Tile& tile) { HWY_DYNAMIC_DISPATCH(RunTile8x2)(tile); };
    case 83: return [](const Tile& tile) { HWY_DYNAMIC_DISPATCH(RunTile8x3)(tile); };
    case 121: return [](const Tile& tile) { HWY_DYNAMIC_DISPATCH(RunTile12x1)(tile); };
    case 122: return [](const Tile& tile) { HWY_DYNAMIC_DISPATCH(RunTile12x2)(tile); };
    default: throw Error("there is no tile of {} channels by {} vectors", channels, vectors);
  }
}
std::int64_t tile_lanes() { return HWY_DYNAMIC_DISPATCH(Lanes)(); }
void interleave(const float* even, const float* odd, float* to, std::int64_t pairs) {
  HWY_DYNAMIC_DISPATCH(Interleave)(even, odd, to, pairs);
}
const char* tiles_unavailable() { return ""; }

}  // namespace fusebench::conv_transpose3d_residual
#endif

#else  // no Highway

namespace fusebench::conv_transpose3d_residual {

const char* tiles_unavailable() {
  return "this build has no Highway: install libhwy-dev and build again";
}
TileFunction tile_function(std::int64_t, std::int64_t) { throw Unavailable(tiles_unavailable()); }
std::int64_t tile_lanes() { throw Unavailable(tiles_unavailable()); }
void interleave(const float*, const float*, float*, std::int64_t) {
  throw Unavailable(tiles_unavailable());
}

}  // namespace fusebench::conv_transpose3d_residual

#endif
