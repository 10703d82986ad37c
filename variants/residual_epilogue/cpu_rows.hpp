// One row's arithmetic in the widest vectors this processor has (Highway picks them at run time).
#pragma once

#include <cstdint>

namespace fusebench::residual_epilogue {

/// y[i] = ((c[i] + b) + c[i]) * c[i] + c[i], each step rounded; ordinary stores. `unroll` vectors (1, 2 or 4) are
/// loaded before the first of them is stored; y may be c.
void row_stepwise(const float* c, float b, float* y, std::int64_t count, std::int64_t unroll);
/// The same with non-temporal stores where y is aligned; call stream_fence() after the last row.
void row_stepwise_streaming(const float* c, float b, float* y, std::int64_t count,
                            std::int64_t unroll);
/// Orders non-temporal stores before whatever follows.
void stream_fence();

/// Why the two above cannot run in this build; empty when they can.
[[nodiscard]] const char* rows_unavailable();

}  // namespace fusebench::residual_epilogue
