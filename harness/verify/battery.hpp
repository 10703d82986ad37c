// The cases that a variant is verified on: problems, inputs and placements, as data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/operator.hpp"
#include "harness/core/variant.hpp"
#include "harness/verify/placement.hpp"

namespace fusebench {

struct Case {
  Problem problem;
  InputSet inputs;
  Placement placement;
  int repeats = 0;  ///< calls beside a load, whose bits must all be equal

  /// "n=2,...,w=11, inputs: NaN among c, shifted by 4 bytes"
  [[nodiscard]] std::string name() const;
};

/// - quick: the operator's quick problems; all inputs and all placements on a small problem or two; 20
///   repeats.
/// - full: its full problems too; all inputs and placements on all its small problems; 100 repeats.
/// - exhaustive: its largest problems too, and every input in every placement; 1000 repeats.
/// - timed: nothing.
/// The timed problem is not among them.
[[nodiscard]] std::vector<Case> battery_cases(const Operator& op, const VariantInfo& variant,
                                              Battery battery);

/// Are the finite inputs of a case within the range for which the contract's bound was derived?
[[nodiscard]] bool within_range(const Operator& op, const Case& one, Precision precision,
                                std::uint64_t seed);

}  // namespace fusebench
