// The name of a variant on a timeline.
#pragma once

#include <string>
#include <string_view>

#include "harness/core/outcome.hpp"

namespace fusebench {

/// "operator variant configuration problem device", in one order everywhere, so that rows of profilers join with rows of
/// results. No '@', '/' or ':', which Nsight Systems gives meanings of their own: each becomes '_'; so does a space or a
/// control character within a part.
[[nodiscard]] std::string variant_key(std::string_view operator_name, std::string_view variant,
                                      std::string_view configuration, std::string_view problem,
                                      DeviceKind device);

}  // namespace fusebench
