// Division by a number known at launch. For host and device.
#pragma once

namespace fusebench::conv_transpose3d_residual {

/// Of numbers below 2^31, by one from 1. With m = floor((2^32 - 1) / d), n m / 2^32 is short of n / d by less than a
/// half and its floor by at most one.
struct Divisor {
  constexpr Divisor() = default;
  constexpr explicit Divisor(long long by)
      : divisor(static_cast<unsigned>(by)), magic(~0U / divisor) {}

  [[nodiscard]] constexpr unsigned quotient(unsigned n) const noexcept {
    const auto q = static_cast<unsigned>((static_cast<unsigned long long>(n) * magic) >> 32U);
    return q + static_cast<unsigned>(n - q * divisor >= divisor);
  }

  unsigned divisor = 1;
  unsigned magic = ~0U;
};

}  // namespace fusebench::conv_transpose3d_residual
