// The controls as an operator, so that they are verified and timed as any variant is.
#pragma once

#include <cstdint>
#include <string>

#include "harness/core/operator.hpp"
#include "harness/core/record.hpp"
#include "harness/device/device.hpp"

namespace fusebench {

/// y = x for a control of two streams, y = 1.5 for one that only writes; "elements=N" floats each. Not
/// registered: nobody chooses it by name.
[[nodiscard]] const Operator& control_as_operator(int streams);

/// Throws Error when the device has no control of that name.
[[nodiscard]] Control find_control(Device& device, const std::string& name);

/// "elements=N"
[[nodiscard]] Problem control_problem(std::int64_t elements);

}  // namespace fusebench
