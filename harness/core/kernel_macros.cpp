#include "harness/core/kernel_macros.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace fusebench {

void add_macros(KernelSpec& spec, const Configuration& configuration,
                std::span<const std::string> except) {
  for (const auto& [name, value] : configuration.values()) {
    if (std::find(except.begin(), except.end(), name) != except.end()) continue;
    std::string macro = name;
    std::transform(macro.begin(), macro.end(), macro.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    spec.macros.emplace_back(std::move(macro), value);
  }
}

}  // namespace fusebench
