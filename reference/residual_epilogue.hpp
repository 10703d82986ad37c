// The operator residual_epilogue: y = ((c + b) + c) * c + c with b[channel] broadcast, each step
// rounded. What anyone can check by reading; the variants are judged against it.
#pragma once

#include <cstdint>

#include "harness/core/operator.hpp"

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

/// float32, exact reference order: four operations, each rounded, never contracted whatever flags
/// this file is compiled with.
[[nodiscard]] float exact_order(float c, float b) noexcept;

/// The float64 oracle.
[[nodiscard]] double oracle_value(double c, double b) noexcept;

/// G = |c| (2|c| + |b| + 1), what the forward error bound scales with: to first order the exact
/// order's worst error is 4 u G with u = 2^-24, since each of its four roundings is of a term that
/// is at most G.
[[nodiscard]] double magnitude(double c, double b) noexcept;

}  // namespace fusebench::residual_epilogue
