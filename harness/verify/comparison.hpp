// Comparing a whole output with the oracle: every element, counted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/core/operator.hpp"
#include "harness/core/tensor.hpp"

namespace fusebench {

struct Mismatch {
  std::int64_t index = 0;
  float got = 0.0F;
  Expectation expected;
};

struct Comparison {
  std::int64_t compared = 0;     ///< elements looked at: all of them, or the caller must say wrong
  std::int64_t wrong = 0;        ///< outside the contract
  std::int64_t unwritten = 0;    ///< still hold the poison
  std::int64_t outside_1e4 = 0;  ///< outside the headline
  std::int64_t bit_equal = 0;    ///< with the exact reference order
  double max_abs_error = 0.0;    ///< against the float64 oracle, over finite expectations; inf when
                                 ///< a finite value was expected and none came
  double max_rel_error = 0.0;    ///< likewise, where the oracle is not zero
  Mismatch worst;                ///< when wrong > 0: the largest error, non-finite before finite
  std::vector<Mismatch> first;   ///< the first few that are wrong, in order

  [[nodiscard]] double bit_equal_percent() const noexcept {
    return compared == 0 ? 0.0
                         : 100.0 * static_cast<double>(bit_equal) / static_cast<double>(compared);
  }
};

/// Compares `got` with `oracle` on all cores. `poison_seed` tells what an unwritten element holds.
/// The result does not depend on the number of threads.
[[nodiscard]] Comparison compare(std::span<const float> got, const Oracle& oracle,
                                 Precision precision, const ErrorBound& bound,
                                 std::uint64_t poison_seed);

/// "12 of 60 elements wrong; worst at (n=0, c=1, ...): got 3.5, expected 2.5; also (..) got .. "
[[nodiscard]] std::string describe(const Comparison& comparison, const Shape& shape);

}  // namespace fusebench
