// The controls as an operator, so that they are verified and timed as any variant is.
#pragma once

#include <cstdint>

#include "harness/core/operator.hpp"
#include "harness/core/record.hpp"

namespace fusebench {

/// y = x for a control of two streams, y = 1.5 for one that only writes; "elements=N" floats each. Not
/// registered: nobody chooses it by name.
[[nodiscard]] const Operator& control_as_operator(int streams);

/// "elements=N"
[[nodiscard]] Problem control_problem(std::int64_t elements);

}  // namespace fusebench
