// The grammar of constraint expressions, by recursive descent.
#pragma once

#include <string>
#include <string_view>

#include "harness/core/expression.hpp"

namespace fusebench {

/// Parses one text into an Expression's nodes. Throws Error with the column where it cannot.
class ExpressionParser {
 public:
  /// `what` is what messages call the text.
  explicit ExpressionParser(std::string_view text, std::string_view what = "constraint")
      : text_(text), what_(what) {}
  [[nodiscard]] Expression parse();
  /// A list or tuple of constants.
  [[nodiscard]] std::vector<Value> parse_list();

 private:
  using Kind = Expression::Kind;
  enum class TokenKind { end, number, text, name, symbol };
  struct Token {
    TokenKind kind = TokenKind::end;
    std::size_t begin = 0;
    std::size_t end = 0;
    Value value;  // of a number or a text
  };

  // Each returns the index of the node that it made.
  std::size_t disjunction();
  std::size_t conjunction();
  std::size_t inversion();
  std::size_t comparison();
  std::size_t membership(std::size_t left, bool negated, std::size_t column);
  std::size_t sum();
  std::size_t product();
  std::size_t unary();
  std::size_t atom();

  Token scan();
  Token scan_number(std::size_t begin);
  Token scan_text(std::size_t begin);
  void advance() { token_ = scan(); }
  [[nodiscard]] std::string_view word() const;
  [[nodiscard]] bool at(std::string_view word) const;
  bool accept(std::string_view word);
  void expect(std::string_view word, std::string_view where);
  std::size_t add(Kind kind, std::size_t column, std::vector<std::size_t> children);
  [[noreturn]] void fail(std::size_t column, const std::string& what) const;

  std::string_view text_;
  std::string_view what_;
  std::size_t position_ = 0;
  std::size_t last_end_ = 0;  // of the token before token_
  std::size_t depth_ = 0;
  Token token_;
  Expression expression_;
};

}  // namespace fusebench
