// What a tuning parameter may be: a truth value, a whole number, a number or a text, compared as Python does.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace fusebench {

using Value = std::variant<bool, std::int64_t, double, std::string>;

/// As Python prints it: True, 64, 0.5, 1.0, cached. Two values of one parameter never print alike.
[[nodiscard]] std::string to_text(const Value& value);
/// "a truth value", "a whole number", "a number" or "a text", for messages.
[[nodiscard]] const char* kind_of(const Value& value);

[[nodiscard]] bool is_number(const Value& value);
/// Exact for every number: 64 bits fit the mantissa. Only for numbers, of which False is 0 and True is 1.
[[nodiscard]] long double as_number(const Value& value);

/// Python's ==: 1, 1.0 and True are equal, and a text never equals a number.
[[nodiscard]] bool equal(const Value& left, const Value& right);
/// Python's truth: false are False, 0, 0.0 and the empty text.
[[nodiscard]] bool is_true(const Value& value);

}  // namespace fusebench
