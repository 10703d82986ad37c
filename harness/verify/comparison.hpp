// Comparing a whole output with the oracle: every element, counted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/core/operator.hpp"
#include "harness/core/tensor.hpp"
#include "harness/verify/tally.hd.hpp"

namespace fusebench {

struct Mismatch {
  std::int64_t index = 0;
  float got = 0.0F;
  Expectation expected;
};

/// A tally with its mismatches in full.
struct Comparison : Tally {
  Mismatch worst;               ///< when wrong > 0: the largest error, non-finite before finite
  std::vector<Mismatch> first;  ///< the first few that are wrong, in order
};

/// Compares `got` with `oracle` on all cores. `poison_seed` tells what an unwritten element holds.
/// The result does not depend on the number of threads.
[[nodiscard]] Comparison compare(std::span<const float> got, const Oracle& oracle,
                                 const AcceptanceRule& rule, std::uint64_t poison_seed);

/// "12 of 60 elements wrong; worst at (n=0, c=1, ...): got 3.5, expected 2.5; also (..) got .. "
[[nodiscard]] std::string describe(const Comparison& comparison, const Shape& shape);

}  // namespace fusebench
