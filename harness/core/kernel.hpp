// What a CUDA kernel is before any device is there: its source and the macros that make it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fusebench {

/// A source file to hand to the run-time compiler. Entry points are extern "C".
struct KernelSpec {
  std::string source;  ///< name among the embedded sources, a path from the root of the checkout
  std::vector<std::pair<std::string, std::string>> macros;
  bool contract =
      false;  ///< let the compiler fuse a * b + c; off, so that a kernel says what it does
  friend bool operator==(const KernelSpec&, const KernelSpec&) = default;
};

/// A GPU architecture as NVRTC spells it: sm_80, sm_90a, sm_100a.
struct Architecture {
  int number = 0;         ///< 80, 90, 100
  bool specific = false;  ///< an 'a' target, with the instructions of that architecture alone
  [[nodiscard]] std::string to_string() const {
    return "sm_" + std::to_string(number) + (specific ? "a" : "");
  }
};

/// Reads "sm_90a". Throws Error for anything else.
[[nodiscard]] Architecture parse_architecture(std::string_view text);

}  // namespace fusebench
