#include "harness/core/kernel.hpp"

#include <charconv>

#include "harness/core/error.hpp"

namespace fusebench {

Architecture parse_architecture(std::string_view text) {
  Architecture architecture;
  std::string_view rest = text;
  const bool prefixed = rest.starts_with("sm_");
  if (prefixed) rest.remove_prefix(3);
  if (rest.ends_with('a')) {
    architecture.specific = true;
    rest.remove_suffix(1);
  }
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), architecture.number);
  if (!prefixed || error != std::errc() || end != rest.data() + rest.size() ||
      architecture.number < 50) {
    throw Error("--arch '{}' is not an architecture; write sm_80, sm_90a, sm_100a, ...", text);
  }
  return architecture;
}

}  // namespace fusebench
