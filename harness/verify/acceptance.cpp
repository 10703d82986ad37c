#include "harness/verify/acceptance.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace fusebench {

bool bit_equal(float a, float b) noexcept {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

// Written as "accept when error <= bound" throughout: a NaN makes that false, where the usual
// "reject when error > tolerance" lets it pass.
bool accepted(Precision precision, const ErrorBound& bound, const Expectation& expected,
              float got) noexcept {
  if (precision == Precision::exact_order) return bit_equal(got, expected.exact);
  if (expected.nan_input) return std::isnan(got);
  const double error = std::abs(static_cast<double>(got) - expected.value);
  const bool within = std::isfinite(got) && std::isfinite(expected.value) &&
                      error <= bound.relative * expected.magnitude + bound.absolute;
  return within || (!std::isfinite(expected.exact) && !std::isfinite(got));
}

bool within_headline(const Expectation& expected, float got) noexcept {
  if (!std::isfinite(expected.exact)) return bit_equal(got, expected.exact);
  const double exact = expected.exact;
  return std::abs(static_cast<double>(got) - exact) <= 1e-4 + 1e-4 * std::abs(exact);
}

}  // namespace fusebench
