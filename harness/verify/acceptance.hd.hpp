// When is one output element right? Pure functions of the element and what it should be, the same on the
// host and on the device. docs/verification.md is the specification.
#pragma once

#include "harness/core/expectation.hd.hpp"

namespace fusebench {

/// How a contract decides: by bits, or by a forward error bound.
struct AcceptanceRule {
  bool bits = false;  ///< the bits of Expectation::exact
  ErrorBound bound;   ///< when not by bits
};

inline constexpr double most_finite = 0x1.fffffep+127;  ///< of float32

[[nodiscard]] constexpr bool is_nan(double value) noexcept { return value != value; }
[[nodiscard]] constexpr bool is_finite(double value) noexcept { return value - value == 0.0; }
[[nodiscard]] constexpr double magnitude_of(double value) noexcept {
  return value < 0.0 ? -value : value;
}

/// The same bits, or both NaN.
[[nodiscard]] constexpr bool bit_equal(float a, float b) noexcept {
  return __builtin_bit_cast(unsigned, a) == __builtin_bit_cast(unsigned, b) ||
         (is_nan(a) && is_nan(b));
}

/// Does `got` keep the contract?
/// - by bits: the same bits as `expected.exact`, any NaN for a NaN.
/// - by bound: |got - value| <= relative * magnitude + absolute + flush * underflow; a NaN that went in must
///   come out. Any non-finite value will do where a step of the exact order is not finite; where the
///   magnitude, which no partial sum of the terms exceeds in any order, is beyond float32: there an honest
///   algebraic form may overflow where another does not; and where the operator says so.
/// Written as "accept when error <= bound" throughout: a NaN makes that false, where the usual "reject
/// when error > tolerance" lets it pass.
[[nodiscard]] constexpr bool accepted(const AcceptanceRule& rule, const Expectation& expected,
                                      float got) noexcept {
  if (rule.bits) return bit_equal(got, expected.exact);
  if (expected.nan_input) return is_nan(got);
  const double error = magnitude_of(static_cast<double>(got) - expected.value);
  const bool within = is_finite(got) && is_finite(expected.value) &&
                      error <= rule.bound.relative * expected.magnitude + rule.bound.absolute +
                                   rule.bound.flush * expected.underflow;
  const bool may_be_nonfinite =
      !is_finite(expected.exact) || expected.magnitude > most_finite || expected.may_be_nonfinite;
  return within || (may_be_nonfinite && !is_finite(got));
}

/// The headline: |got - exact| <= 1e-4 + 1e-4 |exact|, the same class where exact is not finite.
[[nodiscard]] constexpr bool within_headline(const Expectation& expected, float got) noexcept {
  if (!is_finite(expected.exact)) return bit_equal(got, expected.exact);
  const double exact = expected.exact;
  return magnitude_of(static_cast<double>(got) - exact) <= 1e-4 + 1e-4 * magnitude_of(exact);
}

}  // namespace fusebench
