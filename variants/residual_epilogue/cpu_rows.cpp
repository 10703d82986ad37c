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

void RowStepwise(const float* c, float b, float* y, int64_t count) {
  const hn::ScalableTag<float> wide;
  const auto lanes = static_cast<int64_t>(hn::Lanes(wide));
  const auto bias = hn::Set(wide, b);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(Stepwise(hn::LoadU(wide, c + i), bias), wide, y + i);
  }
  RowTail(c + i, b, y + i, count - i);
}

void RowStepwiseStreaming(const float* c, float b, float* y, int64_t count) {
  const hn::ScalableTag<float> wide;
  const auto lanes = static_cast<int64_t>(hn::Lanes(wide));
  const auto bytes = static_cast<uintptr_t>(lanes) * sizeof(float);
  const auto misaligned = reinterpret_cast<uintptr_t>(y) % bytes;
  if (misaligned % sizeof(float) != 0) return RowStepwise(c, b, y, count);
  const auto wanted = static_cast<int64_t>((bytes - misaligned) % bytes / sizeof(float));
  int64_t i = wanted < count ? wanted : count;
  RowTail(c, b, y, i);
  const auto bias = hn::Set(wide, b);
  for (; i + lanes <= count; i += lanes) {
    hn::Stream(Stepwise(hn::LoadU(wide, c + i), bias), wide, y + i);
  }
  RowTail(c + i, b, y + i, count - i);
}

}  // namespace fusebench::residual_epilogue::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <hwy/cache_control.h>
namespace fusebench::residual_epilogue {

HWY_EXPORT(RowStepwise);
HWY_EXPORT(RowStepwiseStreaming);

void row_stepwise(const float* c, float b, float* y, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(RowStepwise)(c, b, y, count);
}
void row_stepwise_streaming(const float* c, float b, float* y, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(RowStepwiseStreaming)(c, b, y, count);
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
void row_stepwise(const float*, float, float*, std::int64_t) {
  throw Unavailable(rows_unavailable());
}
void row_stepwise_streaming(const float*, float, float*, std::int64_t) {
  throw Unavailable(rows_unavailable());
}
void stream_fence() {}

}  // namespace fusebench::residual_epilogue

#endif
