#include "harness/core/value.hpp"

#include <fmt/format.h>

#include <limits>

namespace fusebench {

static_assert(std::numeric_limits<long double>::digits >= 63,
              "comparisons of 64-bit whole numbers with numbers are exact");

std::string to_text(const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "True" : "False";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* number = std::get_if<double>(&value)) {
    std::string text = fmt::format("{}", *number);
    // Python tells 1.0 from 1.
    if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
    return text;
  }
  return std::get<std::string>(value);
}

const char* kind_of(const Value& value) {
  constexpr const char* names[] = {"a truth value", "a whole number", "a number", "a text"};
  return names[value.index()];
}

bool is_number(const Value& value) { return !std::holds_alternative<std::string>(value); }

long double as_number(const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1.0L : 0.0L;
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    return static_cast<long double>(*whole);
  return static_cast<long double>(std::get<double>(value));
}

bool equal(const Value& left, const Value& right) {
  if (is_number(left) != is_number(right)) return false;
  if (is_number(left)) return as_number(left) == as_number(right);
  return std::get<std::string>(left) == std::get<std::string>(right);
}

bool is_true(const Value& value) {
  if (is_number(value)) return as_number(value) != 0.0L;
  return !std::get<std::string>(value).empty();
}

}  // namespace fusebench
