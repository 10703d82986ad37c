// Making a reason out of what cuDNN says when it refuses.
#pragma once

#include <string>
#include <string_view>

namespace fusebench {

/// cuDNN's messages are many lines, each engine's refusals from the innermost out. The first says most:
/// "CUDNN_STATUS_NOT_SUPPORTED_LAYOUT; Reason: ...". One line, cut after 300 bytes; a message of another
/// kind as it is, but in one line.
[[nodiscard]] std::string cudnn_reason(std::string_view message);

}  // namespace fusebench
