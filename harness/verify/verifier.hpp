// Runs a plan on a workbench and says whether what it did was right.
#pragma once

#include <optional>
#include <string>

#include "harness/core/variant.hpp"
#include "harness/verify/workbench.hpp"

namespace fusebench {

struct Verdict {
  bool right = false;
  std::string reason;  ///< empty when right
  Comparison comparison;
};

/// One call on a fresh workbench: poison, call, wait, compare every element, look for tampering.
/// Throws Error when the device reports one.
[[nodiscard]] Verdict verify_once(Plan& plan, Workbench& bench, Device& device,
                                  Precision precision);

/// The verdict on what the last call left, without calling again: used after timing.
[[nodiscard]] Verdict judge_output(Workbench& bench, Precision precision);

}  // namespace fusebench
