#include "harness/tune/budget.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "harness/core/error.hpp"

namespace fusebench {

std::size_t Budget::most(std::size_t space_size) const {
  if (count) return std::min(*count, space_size);
  if (!fraction) return space_size;
  // A little less before rounding up, lest 10% of 50 be 6 for want of a binary tenth.
  const double exact = *fraction * static_cast<double>(space_size);
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(exact * (1.0 - 1e-12))));
}

Budget parse_budget(std::string_view text) {
  double number = 0.0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  Budget budget;
  if (error == std::errc() && number > 0.0 && std::isfinite(number)) {
    if (unit.empty() && number == std::floor(number) && number < 1e15) {
      budget.count = static_cast<std::size_t>(number);
    } else if (unit == "%" && number <= 100.0) {
      budget.fraction = number / 100.0;
    } else if (unit == "s" || unit == "m" || unit == "h") {
      budget.seconds = number * (unit == "s" ? 1.0 : unit == "m" ? 60.0 : 3600.0);
    }
  }
  if (!budget.count && !budget.fraction && !budget.seconds) {
    throw Error("--budget '{}' is none; write a count such as 200, a share such as 10%, of at most "
                "100%, or a "
                "time such as 90s, 5m or 2h",
                text);
  }
  return budget;
}

}  // namespace fusebench
