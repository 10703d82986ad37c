// Compiled once for each vector instruction set: Highway includes this file again by its own name.
#include "harness/device/cpu/fma_chains.hpp"

#if FUSEBENCH_HAVE_HIGHWAY

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "harness/device/cpu/fma_chains.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fusebench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Tag>
int64_t SingleVectors(Tag tag, float* to, const float* from, int64_t first, int64_t count,
                      const FmaOperands& operands) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(tag));
  const auto up = hn::Set(tag, operands.up);
  const auto down = hn::Set(tag, operands.down);
  const auto nothing = hn::Set(tag, operands.nothing);
  int64_t i = first;
  for (; i + lanes <= count; i += lanes) {
    auto v = hn::LoadU(tag, from + i);
    for (int64_t step = 0; step < fma_steps / 2; ++step) {
      v = hn::MulAdd(hn::MulAdd(v, up, nothing), down, nothing);
    }
    hn::StoreU(v, tag, to + i);
  }
  return i;
}

template <class Vector, class... Vectors>
HWY_INLINE void Step(Vector factor, Vector nothing, Vectors&... v) {
  ((v = hn::MulAdd(v, factor, nothing)), ...);
}

int64_t EightVectors(float* to, const float* from, int64_t count, const FmaOperands& operands) {
  const hn::ScalableTag<float> wide;
  const auto lanes = static_cast<int64_t>(hn::Lanes(wide));
  const auto up = hn::Set(wide, operands.up);
  const auto down = hn::Set(wide, operands.down);
  const auto nothing = hn::Set(wide, operands.nothing);
  int64_t i = 0;
  for (; i + 8 * lanes <= count; i += 8 * lanes) {
    // No array: vectors may be of a size that only the processor knows.
    auto v0 = hn::LoadU(wide, from + i);
    auto v1 = hn::LoadU(wide, from + i + lanes);
    auto v2 = hn::LoadU(wide, from + i + 2 * lanes);
    auto v3 = hn::LoadU(wide, from + i + 3 * lanes);
    auto v4 = hn::LoadU(wide, from + i + 4 * lanes);
    auto v5 = hn::LoadU(wide, from + i + 5 * lanes);
    auto v6 = hn::LoadU(wide, from + i + 6 * lanes);
    auto v7 = hn::LoadU(wide, from + i + 7 * lanes);
    for (int64_t step = 0; step < fma_steps / 2; ++step) {
      Step(up, nothing, v0, v1, v2, v3, v4, v5, v6, v7);
      Step(down, nothing, v0, v1, v2, v3, v4, v5, v6, v7);
    }
    hn::StoreU(v0, wide, to + i);
    hn::StoreU(v1, wide, to + i + lanes);
    hn::StoreU(v2, wide, to + i + 2 * lanes);
    hn::StoreU(v3, wide, to + i + 3 * lanes);
    hn::StoreU(v4, wide, to + i + 4 * lanes);
    hn::StoreU(v5, wide, to + i + 5 * lanes);
    hn::StoreU(v6, wide, to + i + 6 * lanes);
    hn::StoreU(v7, wide, to + i + 7 * lanes);
  }
  return i;
}

void FmaChains(float* to, const float* from, int64_t count, const FmaOperands& operands) {
  int64_t done = EightVectors(to, from, count, operands);
  done = SingleVectors(hn::ScalableTag<float>(), to, from, done, count, operands);
  SingleVectors(hn::CappedTag<float, 1>(), to, from, done, count, operands);
}

}  // namespace fusebench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusebench {

HWY_EXPORT(FmaChains);

void fma_chains(float* to, const float* from, std::int64_t count, const FmaOperands& operands) {
  HWY_DYNAMIC_DISPATCH(FmaChains)(to, from, count, operands);
}

}  // namespace fusebench
#endif

#else

namespace fusebench {

void fma_chains(float* to, const float* from, std::int64_t count, const FmaOperands& operands) {
  constexpr std::int64_t chains = 32;
  for (std::int64_t i = 0; i < count; i += chains) {
    float v[chains] = {};
    const std::int64_t here = count - i < chains ? count - i : chains;
    for (std::int64_t k = 0; k < here; ++k) v[k] = from[i + k];
    for (std::int64_t step = 0; step < fma_steps; ++step) {
      const float factor = step % 2 == 0 ? operands.up : operands.down;
      for (float& each : v) each = each * factor + operands.nothing;
    }
    for (std::int64_t k = 0; k < here; ++k) to[i + k] = v[k];
  }
}

}  // namespace fusebench

#endif
