// When is one output element right? Pure functions of the element and what it should be.
#pragma once

#include "harness/core/operator.hpp"
#include "harness/core/outcome.hpp"

namespace fusebench {

/// Does `got` keep the contract `precision`?
/// - exact_order: the same bits as `expected.exact`, any NaN for a NaN.
/// - all others: |got - value| <= bound.relative * magnitude + bound.absolute, where the exact order is
///   finite. Where one of its steps is not, any non-finite value will do, or a finite one within the
///   bound of a finite oracle (overflow may come later in another order); a NaN that went in must come
///   out.
[[nodiscard]] bool accepted(Precision precision, const ErrorBound& bound,
                            const Expectation& expected, float got) noexcept;

/// The headline: |got - exact| <= 1e-4 + 1e-4 |exact|, the same class where exact is not finite.
[[nodiscard]] bool within_headline(const Expectation& expected, float got) noexcept;

/// The same bits, or both NaN.
[[nodiscard]] bool bit_equal(float a, float b) noexcept;

}  // namespace fusebench
