// Binomial coefficients too large for a double.
#pragma once

namespace fusebench {

/// The logarithm of n over k, for 0 <= k <= n. Not by std::lgamma, which writes a sign that all threads share.
[[nodiscard]] double log_binomial(double n, double k);

}  // namespace fusebench
