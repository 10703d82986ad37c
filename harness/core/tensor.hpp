// Tensors as the harness sees them: a name, a shape, and how an input is made from a seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/generator.hd.hpp"

namespace fusebench {

/// Extents in elements, outermost first; row-major and contiguous (NCDHW where there are five).
using Shape = std::vector<std::int64_t>;

/// Product of the extents. Throws Error when it exceeds 2^60, before anything can overflow.
[[nodiscard]] std::int64_t element_count(const Shape& shape);

/// "[16,64,32,64,64]"
[[nodiscard]] std::string to_string(const Shape& shape);

/// The coordinates of element `index` in row-major order: "(n=1, c=2, d=3, h=4, w=5)" for five
/// dimensions, otherwise plain numbers.
[[nodiscard]] std::string coordinates(const Shape& shape, std::int64_t index);

enum class TensorRole { input, output };

struct TensorSpec {
  std::string name;
  Shape shape;  ///< float32 elements
  TensorRole role = TensorRole::input;
  InputRecipe recipe;  ///< inputs only
};

}  // namespace fusebench
