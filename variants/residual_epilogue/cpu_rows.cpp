// Compiled once for each vector instruction set: Highway includes this file again by its own name.
#include "variants/residual_epilogue/cpu_rows.hpp"

#if FUSEBENCH_HAVE_HIGHWAY

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "variants/residual_epilogue/cpu_rows.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fusebench::residual_epilogue::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Separate Add and Mul: with MulAdd, or with contraction allowed, this would not be the exact order.
template <class Vector>
Vector Stepwise(Vector c, Vector b) {
  return hn::Add(hn::Mul(hn::Add(hn::Add(c, b), c), c), c);
}

void RowTail(const float* c, float b, float* y, int64_t count) {
  const hn::CappedTag<float, 1> one;
  for (int64_t i = 0; i < count; ++i) {
    hn::StoreU(Stepwise(hn::LoadU(one, c + i), hn::Set(one, b)), one, y + i);
  }
}

// `store` is given vectors at places from `first` on, `unroll` of them loaded before the first is stored.
template <int64_t unroll, class Store>
int64_t Vectors(const float* c, float b, int64_t first, int64_t count, const Store& store) {
  const hn::ScalableTag<float> wide;
  const auto lanes = static_cast<int64_t>(hn::Lanes(wide));
  const auto bias = hn::Set(wide, b);
  int64_t i = first;
  for (; i + unroll * lanes <= count; i += unroll * lanes) {
    // No array: vectors may be of a size that only the processor knows.
    const auto v0 = hn::LoadU(wide, c + i);
    if constexpr (unroll == 1) {
      store(Stepwise(v0, bias), i);
    } else {
      const auto v1 = hn::LoadU(wide, c + i + lanes);
      if constexpr (unroll == 2) {
        store(Stepwise(v0, bias), i);
        store(Stepwise(v1, bias), i + lanes);
      } else {
        const auto v2 = hn::LoadU(wide, c + i + 2 * lanes);
        const auto v3 = hn::LoadU(wide, c + i + 3 * lanes);
        store(Stepwise(v0, bias), i);
        store(Stepwise(v1, bias), i + lanes);
        store(Stepwise(v2, bias), i + 2 * lanes);
        store(Stepwise(v3, bias), i + 3 * lanes);
      }
    }
  }
  for (; i + lanes <= count; i += lanes) store(Stepwise(hn::LoadU(wide, c + i), bias), i);
  return i;
}

template <class Store>
int64_t UnrolledVectors(const float* c, float b, int64_t first, int64_t count, int64_t unroll,
                        const Store& store) {
  if (unroll >= 4) return Vectors<4>(c, b, first, count, store);
  if (unroll >= 2) return Vectors<2>(c, b, first, count, store);
  return Vectors<1>(c, b, first, count, store);
}

void RowStepwise(const float* c, float b, float* y, int64_t count, int64_t unroll) {
  const hn::ScalableTag<float> wide;
  const int64_t i = UnrolledVectors(
      c, b, 0, count, unroll, [&](auto value, int64_t at) { hn::StoreU(value, wide, y + at); });
  RowTail(c + i, b, y + i, count - i);
}

void RowStepwiseStreaming(const float* c, float b, float* y, int64_t count, int64_t unroll) {
  const hn::ScalableTag<float> wide;
  const auto bytes = static_cast<uintptr_t>(hn::Lanes(wide)) * sizeof(float);
  const auto misaligned = reinterpret_cast<uintptr_t>(y) % bytes;
  if (misaligned % sizeof(float) != 0) return RowStepwise(c, b, y, count, unroll);
  const auto wanted = static_cast<int64_t>((bytes - misaligned) % bytes / sizeof(float));
  const int64_t first = wanted < count ? wanted : count;
  RowTail(c, b, y, first);
  const int64_t i = UnrolledVectors(
      c, b, first, count, unroll, [&](auto value, int64_t at) { hn::Stream(value, wide, y + at); });
  RowTail(c + i, b, y + i, count - i);
}

}  // namespace fusebench::residual_epilogue::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <hwy/cache_control.h>
namespace fusebench::residual_epilogue {

HWY_EXPORT(RowStepwise);
HWY_EXPORT(RowStepwiseStreaming);

void row_stepwise(const float* c, float b, float* y, std::int64_t count, std::int64_t unroll) {
  HWY_DYNAMIC_DISPATCH(RowStepwise)(c, b, y, count, unroll);
}
void row_stepwise_streaming(const float* c, float b, float* y, std::int64_t count,
                            std::int64_t unroll) {
  HWY_DYNAMIC_DISPATCH(RowStepwiseStreaming)(c, b, y, count, unroll);
}
void stream_fence() { hwy::FlushStream(); }
const char* rows_unavailable() { return ""; }

}  // namespace fusebench::residual_epilogue
#endif

#else  // no Highway

#include "harness/core/error.hpp"

namespace fusebench::residual_epilogue {

const char* rows_unavailable() {
  return "this build has no Highway: install libhwy-dev and build again";
}
void row_stepwise(const float*, float, float*, std::int64_t, std::int64_t) {
  throw Unavailable(rows_unavailable());
}
void row_stepwise_streaming(const float*, float, float*, std::int64_t, std::int64_t) {
  throw Unavailable(rows_unavailable());
}
void stream_fence() {}

}  // namespace fusebench::residual_epilogue

#endif
