// How large a change is, and how that is told.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace fusebench {

/// How much larger the larger of two medians is, from their ratio: as much for a doubling as for a halving.
[[nodiscard]] inline double size_of(double ratio) { return std::max(ratio, 1.0 / ratio) - 1.0; }

/// Is it at least the floor? Rounding must not take a change of exactly the floor for less.
[[nodiscard]] inline bool reaches(double size, double floor) {
  return size >= floor * (1.0 - 1e-9);
}

/// .0123 -> "1.23%"
[[nodiscard]] inline std::string percent(double share) {
  return fmt::format("{:.2f}%", 100.0 * share);
}

/// "1 replica", "2 replicas"
[[nodiscard]] inline std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace fusebench
