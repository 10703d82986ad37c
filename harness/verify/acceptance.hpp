// The acceptance rule of a contract, for one operator.
#pragma once

#include "harness/core/operator.hpp"
#include "harness/verify/acceptance.hd.hpp"

namespace fusebench {

[[nodiscard]] inline AcceptanceRule rule_of(Precision precision, const ErrorBound& bound) {
  return precision == Precision::exact_order ? AcceptanceRule{true, {}}
                                             : AcceptanceRule{false, bound};
}

/// Throws Error when the operator has no bound for `precision`.
[[nodiscard]] inline AcceptanceRule rule_of(const Operator& op, Precision precision) {
  return rule_of(precision,
                 precision == Precision::exact_order ? ErrorBound{} : op.bound(precision));
}

}  // namespace fusebench
