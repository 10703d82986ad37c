// How long a search may go on: 200 configurations, 10% of the space, or 5m.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fusebench {

struct Budget {
  std::optional<std::size_t> count;
  std::optional<double> fraction;  ///< of the space, above 0 and at most 1
  std::optional<double> seconds;

  /// The most configurations for a space of that size; the size itself where only time is limited.
  [[nodiscard]] std::size_t most(std::size_t space_size) const;
};

/// "200", "10%", "90s", "5m" or "1.5h". Throws Error for anything else.
[[nodiscard]] Budget parse_budget(std::string_view text);

}  // namespace fusebench
