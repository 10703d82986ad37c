#include "harness/core/tensor.hpp"

#include <fmt/ranges.h>

#include <array>

#include "harness/core/error.hpp"

namespace fusebench {

std::int64_t element_count(const Shape& shape) {
  constexpr std::int64_t limit = std::int64_t{1} << 60;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw Error("shape {}: an extent must not be negative", to_string(shape));
    if (extent != 0 && count > limit / extent) {
      throw Error("shape {}: more than 2^60 elements; choose a smaller problem", to_string(shape));
    }
    count *= extent;
  }
  return count;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

std::string coordinates(const Shape& shape, std::int64_t index) {
  std::vector<std::int64_t> at(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    at[i] = index % shape[i];
    index /= shape[i];
  }
  constexpr std::array<const char*, 5> names = {"n", "c", "d", "h", "w"};
  if (shape.size() != names.size()) return fmt::format("({})", fmt::join(at, ", "));
  return fmt::format("(n={}, c={}, d={}, h={}, w={})", at[0], at[1], at[2], at[3], at[4]);
}

}  // namespace fusebench
