// A constraint as an expression over parameters and properties: "use_padding == 0 or block_size_x % 32 != 0".
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/value.hpp"

namespace fusebench {

/// The smallest and largest that a number can be; `any` when nothing is known of it, or it is a text.
struct Bounds {
  bool any = false;
  long double low = 0.0L;
  long double high = 0.0L;
};

/// An expression in a subset of Python, parsed once. It knows: or, and, not; ==, !=, <, <=, >, >=, in, not in, chained as
/// Python chains them; +, -, *, /, //, %; parentheses, lists and tuples after `in`; whole numbers, numbers,
/// quoted texts, True and False; names. Operators bind, and values are, as in Python, save that a whole
/// number must fit 64 bits.
class Expression {
 public:
  /// Throws Error, with the column (counted from 1) and what stands there, where the text is none.
  explicit Expression(std::string_view text);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// The names in it, each once, in the order in which they first stand.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// Its parts that must each hold: [a, b] of "a and b", itself otherwise. A part binds fewer names, so it
  /// can be tried earlier.
  [[nodiscard]] std::vector<Expression> conjuncts() const;

  /// Its value, `values` being those of names(). Throws Error, with the expression and the column, for a
  /// division by 0, an overflow, and what Python has no such operation for.
  [[nodiscard]] Value evaluate(std::span<const Value> values) const;
  /// Whether no choice of values within `bounds`, those of names(), makes it true. False also when that is
  /// unknown.
  [[nodiscard]] bool never_true(std::span<const Bounds> bounds) const;

  /// How a node is computed from its children.
  enum class Kind {
    constant,
    name,
    logical_or,
    logical_and,
    logical_not,
    comparison,  ///< children a, b, c and operators [<, <=]: a < b <= c
    membership,  ///< the first child is, or is not, among the others
    add,
    subtract,
    multiply,
    divide,
    floor_divide,
    modulo,
    negate,
    plus
  };
  enum class Comparison { equal, unequal, less, at_most, greater, at_least };

  struct Node {
    Kind kind = Kind::constant;
    std::size_t column = 0;  ///< of its operator, or where it begins
    std::size_t end = 0;     ///< behind its last character
    std::size_t begin = 0;
    Value constant;
    std::size_t name = 0;  ///< index into names()
    bool negated = false;  ///< `not in`
    std::vector<Comparison> comparisons;
    std::vector<std::size_t> children;
  };

 private:
  friend class ExpressionParser;
  Expression() = default;

  [[nodiscard]] Value value_of(std::size_t index, std::span<const Value> values) const;
  [[nodiscard]] Value arithmetic(const Node& node, const Value& left, const Value& right) const;
  [[nodiscard]] bool compare(const Node& node, Comparison comparison, const Value& left,
                             const Value& right) const;
  [[nodiscard]] Bounds bounds_of(std::size_t index, std::span<const Bounds> bounds) const;
  [[noreturn]] void fail(const Node& node, const std::string& what) const;

  std::string text_;
  std::vector<std::string> names_;
  std::vector<Node> nodes_;  // the root last
};

/// The values of a list of constants as text: "[16, 32, 'cached']", with the operators of an Expression.
/// Throws Error, with `what` and the column, where it is none.
[[nodiscard]] std::vector<Value> parse_value_list(std::string_view what, std::string_view text);

}  // namespace fusebench
