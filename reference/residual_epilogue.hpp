// The operator residual_epilogue: y = ((c + b) + c) * c + c with b[channel] broadcast, each step
// rounded. What anyone can check by reading; the variants are judged against it.
#pragma once

#include <cstdint>

#include "harness/core/operator.hpp"
#include "reference/residual_epilogue.hd.hpp"

namespace fusebench::residual_epilogue {

inline constexpr const char* operator_name = "residual_epilogue";

/// Indices into a TensorTable; the output is y, of c's shape.
inline constexpr std::size_t tensor_c = 0;  ///< [n, c, d, h, w]
inline constexpr std::size_t tensor_b = 1;  ///< [c, 1, 1, 1]

/// Extents of c in elements. One row is one (n, c): `spatial` elements that share a bias.
struct Sizes {
  std::int64_t rows = 0;      ///< n * c
  std::int64_t channels = 0;  ///< c; row r has channel r % channels
  std::int64_t spatial = 0;   ///< d * h * w
  [[nodiscard]] std::int64_t elements() const noexcept { return rows * spatial; }
};

[[nodiscard]] Sizes sizes_of(const Problem& problem);

}  // namespace fusebench::residual_epilogue
