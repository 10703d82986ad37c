// What readers of recorded spaces ask of JSON, with errors that name the member.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "harness/core/error.hpp"
#include "harness/core/value.hpp"

namespace fusebench {

/// A parameter's value. Throws Error for null, a list or an object, and for a number that fits no double.
template <typename Json>
[[nodiscard]] Value value_of(const Json& json) {
  if (json.is_boolean()) return json.template get<bool>();
  if (json.is_number_unsigned()) {
    const auto whole = json.template get<std::uint64_t>();
    if (whole >> 63 != 0) throw Error("the value {} does not fit 64 bits", whole);
    return static_cast<std::int64_t>(whole);
  }
  if (json.is_number_integer()) return json.template get<std::int64_t>();
  if (json.is_number()) return json.template get<double>();
  if (json.is_string()) return json.template get<std::string>();
  throw Error("a parameter cannot have the value {}", json.dump());
}

/// Throws Error, naming the key, where `json` is no object or has no such member.
template <typename Json>
[[nodiscard]] const Json& member(const Json& json, const std::string& key) {
  const auto found = json.find(key);
  if (!json.is_object() || found == json.end()) throw Error("'{}' is missing", key);
  return *found;
}

/// Throws Error, naming the key, where the member is missing or no text.
template <typename Json>
[[nodiscard]] std::string text_at(const Json& json, const std::string& key) {
  const Json& text = member(json, key);
  if (!text.is_string()) throw Error("'{}' is no text", key);
  return text.template get<std::string>();
}

/// Throws Error, naming the key, where the member is missing or no list.
template <typename Json>
[[nodiscard]] const Json& array_at(const Json& json, const std::string& key) {
  const Json& array = member(json, key);
  if (!array.is_array()) throw Error("'{}' is no list", key);
  return array;
}

}  // namespace fusebench
