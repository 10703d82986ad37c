#include "harness/core/operator.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "harness/core/error.hpp"
#include "harness/core/parameters.hpp"

namespace fusebench {

std::int64_t Problem::size(std::string_view name) const {
  for (const auto& [key, value] : sizes_) {
    if (key == name) return value;
  }
  throw Error("problem '{}' has no size '{}'", to_string(), name);
}

std::string Problem::to_string() const {
  std::vector<std::string> parts;
  for (const auto& [key, value] : sizes_) parts.push_back(fmt::format("{}={}", key, value));
  return fmt::format("{}", fmt::join(parts, ","));
}

OperandFormat operand_format(Precision precision) noexcept {
  switch (precision) {
    case Precision::exact_order:
    case Precision::float32: return {};
    case Precision::bf16x3: return {0x1p-15, 0x1p-134, 0x1p+60};
    case Precision::tf32: return {0x1p-9, 0x1p-136, 0x1p+60};
    case Precision::fp16: return {0x1p-10, 0x1p-25, 8.0};
    case Precision::bf16: return {0x1p-7, 0x1p-134, 0x1p+60};
  }
  return {};
}

std::vector<std::int64_t> Operator::device_oracle_sizes(const Problem& problem) const {
  std::vector<std::int64_t> sizes;
  for (const auto& [name, value] : problem.sizes()) sizes.push_back(value);
  return sizes;
}

std::string_view to_string(Battery battery) noexcept {
  switch (battery) {
    case Battery::timed: return "timed";
    case Battery::quick: return "quick";
    case Battery::full: return "full";
    case Battery::exhaustive: return "exhaustive";
  }
  return "unknown";
}

Battery parse_battery(std::string_view text) {
  for (const Battery battery :
       {Battery::timed, Battery::quick, Battery::full, Battery::exhaustive}) {
    if (to_string(battery) == text) return battery;
  }
  throw Error("battery '{}' is none of timed, quick, full, exhaustive", text);
}

Problem parse_sizes(std::string_view text, std::span<const std::string_view> names) {
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  const auto pairs = parse_key_values("--problem", text);
  for (const auto& [key, value] : pairs) {
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      throw Error("--problem: unknown size '{}'; the sizes are {}", key, fmt::join(names, ", "));
    }
  }
  for (const std::string_view name : names) {
    const auto matches = [&](const auto& pair) { return pair.first == name; };
    const auto found = std::find_if(pairs.begin(), pairs.end(), matches);
    if (found == pairs.end()) throw Error("--problem '{}': size '{}' is missing", text, name);
    const std::int64_t value = parse_integer(fmt::format("--problem: {}", name), found->second);
    if (value < 1) throw Error("--problem: {} must be at least 1, not {}", name, value);
    sizes.emplace_back(name, value);
  }
  return Problem(std::move(sizes));
}

}  // namespace fusebench
