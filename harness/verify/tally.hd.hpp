// Counting a whole output against its oracle, one element at a time; for host and device.
#pragma once

#include "harness/verify/acceptance.hd.hpp"

namespace fusebench {

struct Tally {
  long long compared = 0;      ///< elements looked at: all of them, or the caller must say wrong
  long long wrong = 0;         ///< outside the contract
  long long unwritten = 0;     ///< still hold the poison
  long long outside_1e4 = 0;   ///< outside the headline
  long long bit_equal = 0;     ///< with the exact reference order
  double max_abs_error = 0.0;  ///< against the float64 oracle, over finite expectations; inf when
                               ///< a finite value was expected and none came
  double max_rel_error = 0.0;  ///< likewise, where the oracle is not zero
  double worst_error = 0.0;    ///< when wrong > 0: of the worst, inf for a non-finite one
  long long worst_index = 0;   ///< when wrong > 0: the first element of that error

  [[nodiscard]] constexpr double bit_equal_percent() const noexcept {
    return compared == 0 ? 0.0
                         : 100.0 * static_cast<double>(bit_equal) / static_cast<double>(compared);
  }
};

/// Infinite where no finite result could be told from another.
[[nodiscard]] constexpr double error_of(const Expectation& expected, float got) noexcept {
  const double infinite = __builtin_bit_cast(double, 0x7FF0000000000000ULL);
  if (!is_finite(expected.exact) || !is_finite(expected.value)) return infinite;
  const double error = magnitude_of(static_cast<double>(got) - expected.value);
  return is_nan(error) ? infinite : error;
}

/// Adds element `index` to the tally and says whether it is right. A survivor of the poison is a NaN, yet
/// no NaN counts as right that the call did not write.
constexpr bool count_element(Tally& tally, long long index, float got, const Expectation& expected,
                             const AcceptanceRule& rule, unsigned long long poison_seed) noexcept {
  ++tally.compared;
  tally.bit_equal += bit_equal(got, expected.exact);
  tally.outside_1e4 += !within_headline(expected, got);
  const bool poisoned =
      is_nan(got) && __builtin_bit_cast(unsigned, got) ==
                         poison_bits(poison_seed, static_cast<unsigned long long>(index));
  tally.unwritten += poisoned;
  const double error = error_of(expected, got);
  if (is_finite(expected.exact) && is_finite(expected.value)) {
    if (error > tally.max_abs_error) tally.max_abs_error = error;
    // Divided only where it may matter: a division costs as much as all the rest.
    const double size = magnitude_of(expected.value);
    if (size != 0.0 && error >= tally.max_rel_error * size * (1.0 - 0x1p-50)) {
      const double relative = error / size;
      if (relative > tally.max_rel_error) tally.max_rel_error = relative;
    }
  }
  if (!poisoned && accepted(rule, expected, got)) return true;
  if (tally.wrong == 0 || error > tally.worst_error ||
      (error == tally.worst_error && index < tally.worst_index)) {
    tally.worst_error = error;
    tally.worst_index = index;
  }
  ++tally.wrong;
  return false;
}

/// Adds `part` to `total`; any order of merging gives the same.
constexpr void merge(Tally& total, const Tally& part) noexcept {
  if (part.wrong > 0 &&
      (total.wrong == 0 || part.worst_error > total.worst_error ||
       (part.worst_error == total.worst_error && part.worst_index < total.worst_index))) {
    total.worst_error = part.worst_error;
    total.worst_index = part.worst_index;
  }
  total.compared += part.compared;
  total.wrong += part.wrong;
  total.unwritten += part.unwritten;
  total.outside_1e4 += part.outside_1e4;
  total.bit_equal += part.bit_equal;
  if (part.max_abs_error > total.max_abs_error) total.max_abs_error = part.max_abs_error;
  if (part.max_rel_error > total.max_rel_error) total.max_rel_error = part.max_rel_error;
}

}  // namespace fusebench
