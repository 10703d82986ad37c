#include "harness/core/expression_parser.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

// So deep that no one writes it, and shallow enough for any stack.
constexpr std::size_t deepest = 200;

// The longest first: "<=" is not "<" and "=".
constexpr std::array<std::string_view, 18> symbols = {
    "==", "!=", "<=", ">=", "//", "**", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ","};

constexpr std::array<std::string_view, 6> keywords = {"and", "or", "not", "in", "True", "False"};

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }

std::optional<Expression::Comparison> comparison_of(std::string_view symbol) {
  using Comparison = Expression::Comparison;
  if (symbol == "==") return Comparison::equal;
  if (symbol == "!=") return Comparison::unequal;
  if (symbol == "<") return Comparison::less;
  if (symbol == "<=") return Comparison::at_most;
  if (symbol == ">") return Comparison::greater;
  if (symbol == ">=") return Comparison::at_least;
  return std::nullopt;
}

// What people write who do not think in Python.
std::string hint_for(std::string_view rest) {
  if (rest.starts_with("&&")) return "; write 'and'";
  if (rest.starts_with("||")) return "; write 'or'";
  if (rest.starts_with('!')) return "; write 'not'";
  if (rest.starts_with('=')) return "; write '=='";
  return "";
}

}  // namespace

Expression ExpressionParser::parse() {
  expression_.text_ = std::string(text_);
  advance();
  (void)disjunction();
  if (token_.kind != TokenKind::end) fail(token_.begin, "an operator is missing before it");
  return std::move(expression_);
}

std::vector<Value> ExpressionParser::parse_list() {
  expression_.text_ = std::string(text_);
  advance();
  const bool list = accept("[");
  const std::string_view close = list ? "]" : ")";
  if (!list) expect("(", "or '[' at the beginning of a list");
  std::vector<Value> values;
  while (!at(close)) {
    const std::size_t column = token_.begin;
    (void)sum();
    if (!expression_.names_.empty()) fail(column, "a list has constants only");
    values.push_back(expression_.evaluate({}));
    if (!accept(",")) break;
  }
  expect(close, "at the end of the list");
  if (token_.kind != TokenKind::end) fail(token_.begin, "nothing may stand behind the list");
  return values;
}

std::size_t ExpressionParser::disjunction() {
  // Parentheses and nots nest through here and through unary().
  if (++depth_ > deepest) fail(token_.begin, "it is nested too deeply");
  const std::size_t column = token_.begin;
  std::vector<std::size_t> parts = {conjunction()};
  while (accept("or")) parts.push_back(conjunction());
  --depth_;
  return parts.size() == 1 ? parts[0] : add(Kind::logical_or, column, std::move(parts));
}

std::size_t ExpressionParser::conjunction() {
  const std::size_t column = token_.begin;
  std::vector<std::size_t> parts = {inversion()};
  while (accept("and")) parts.push_back(inversion());
  return parts.size() == 1 ? parts[0] : add(Kind::logical_and, column, std::move(parts));
}

std::size_t ExpressionParser::inversion() {
  const std::size_t column = token_.begin;
  if (!accept("not")) return comparison();
  if (++depth_ > deepest) fail(column, "it is nested too deeply");
  const std::size_t inverted = inversion();
  --depth_;
  return add(Kind::logical_not, column, {inverted});
}

std::size_t ExpressionParser::comparison() {
  const std::size_t column = token_.begin;
  std::vector<std::size_t> operands = {sum()};
  std::vector<Expression::Comparison> comparisons;
  for (;;) {
    const std::size_t here = token_.begin;
    if (at("in") || at("not")) {
      const bool negated = accept("not");
      expect("in", "after 'not' behind a value");
      if (!comparisons.empty()) fail(here, "put the comparison before it into parentheses");
      const std::size_t node = membership(operands[0], negated, here);
      if (at("in") || at("not") || comparison_of(word())) {
        fail(token_.begin, "put the 'in' before it into parentheses");
      }
      return node;
    }
    const auto found = token_.kind == TokenKind::symbol ? comparison_of(word()) : std::nullopt;
    if (!found) break;
    advance();
    comparisons.push_back(*found);
    operands.push_back(sum());
  }
  if (comparisons.empty()) return operands[0];
  const std::size_t node = add(Kind::comparison, column, std::move(operands));
  expression_.nodes_[node].comparisons = std::move(comparisons);
  return node;
}

std::size_t ExpressionParser::membership(std::size_t left, bool negated, std::size_t column) {
  std::vector<std::size_t> children = {left};
  const bool list = accept("[");
  const std::string_view close = list ? "]" : ")";
  if (!list) expect("(", "or '[' behind 'in'");
  bool tuple = list;
  while (!at(close)) {
    children.push_back(disjunction());
    if (!accept(",")) break;
    tuple = true;
  }
  if (!tuple && children.size() == 2) {
    fail(column, "what stands behind it is one value and no list; write [...]");
  }
  expect(close, "at the end of the list");
  const std::size_t node = add(Kind::membership, column, std::move(children));
  expression_.nodes_[node].negated = negated;
  return node;
}

std::size_t ExpressionParser::sum() {
  std::size_t left = product();
  for (;;) {
    const std::size_t column = token_.begin;
    if (accept("+")) {
      left = add(Kind::add, column, {left, product()});
    } else if (accept("-")) {
      left = add(Kind::subtract, column, {left, product()});
    } else {
      return left;
    }
  }
}

std::size_t ExpressionParser::product() {
  std::size_t left = unary();
  for (;;) {
    const std::size_t column = token_.begin;
    if (accept("*")) {
      left = add(Kind::multiply, column, {left, unary()});
    } else if (accept("//")) {
      left = add(Kind::floor_divide, column, {left, unary()});
    } else if (accept("/")) {
      left = add(Kind::divide, column, {left, unary()});
    } else if (accept("%")) {
      left = add(Kind::modulo, column, {left, unary()});
    } else {
      return left;
    }
  }
}

std::size_t ExpressionParser::unary() {
  const std::size_t column = token_.begin;
  if (!at("-") && !at("+")) return atom();
  const Kind kind = at("-") ? Kind::negate : Kind::plus;
  advance();
  if (++depth_ > deepest) fail(column, "it is nested too deeply");
  const std::size_t operand = unary();
  --depth_;
  return add(kind, column, {operand});
}

std::size_t ExpressionParser::atom() {
  const Token token = token_;
  if (accept("(")) {
    const std::size_t inner = disjunction();
    expect(")", "to close the parenthesis");
    // A part that is taken out by itself needs its parentheses no more; its text stays whole with them.
    expression_.nodes_[inner].begin = token.begin;
    expression_.nodes_[inner].end = last_end_;
    return inner;
  }
  if (token.kind == TokenKind::number || token.kind == TokenKind::text) {
    advance();
    const std::size_t node = add(Kind::constant, token.begin, {});
    expression_.nodes_[node].constant = token.value;
    return node;
  }
  if (at("True") || at("False")) {
    const bool truth = at("True");
    advance();
    const std::size_t node = add(Kind::constant, token.begin, {});
    expression_.nodes_[node].constant = truth;
    return node;
  }
  if (token.kind != TokenKind::name ||
      std::find(keywords.begin(), keywords.end(), word()) != keywords.end()) {
    fail(token.begin, "a value is missing before it");
  }
  const std::string name(word());
  advance();
  if (at("(")) fail(token.begin, "there are no functions");
  auto& names = expression_.names_;
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) found = names.insert(names.end(), name);
  const std::size_t node = add(Kind::name, token.begin, {});
  expression_.nodes_[node].name = static_cast<std::size_t>(found - names.begin());
  return node;
}

ExpressionParser::Token ExpressionParser::scan() {
  last_end_ = token_.end;
  while (position_ < text_.size() &&
         std::isspace(static_cast<unsigned char>(text_[position_])) != 0)
    ++position_;
  const std::size_t begin = position_;
  if (begin == text_.size()) return {.begin = begin, .end = begin, .value = {}};
  const char first = text_[begin];
  if (starts_name(first)) {
    while (position_ < text_.size() && continues_name(text_[position_])) ++position_;
    return {.kind = TokenKind::name, .begin = begin, .end = position_, .value = {}};
  }
  const bool fraction = first == '.' && begin + 1 < text_.size() && is_digit(text_[begin + 1]);
  if (is_digit(first) || fraction) return scan_number(begin);
  if (first == '\'' || first == '"') return scan_text(begin);
  for (const std::string_view symbol : symbols) {
    if (!text_.substr(begin).starts_with(symbol)) continue;
    if (symbol == "**") fail(begin, "there are no powers; write a product");
    position_ += symbol.size();
    return {.kind = TokenKind::symbol, .begin = begin, .end = position_, .value = {}};
  }
  fail(begin, "no such operator" + hint_for(text_.substr(begin)));
}

ExpressionParser::Token ExpressionParser::scan_number(std::size_t begin) {
  const char* const first = text_.data() + begin;
  const char* const last = text_.data() + text_.size();
  Token token{.kind = TokenKind::number, .begin = begin, .value = {}};
  std::int64_t whole = 0;
  double number = 0;
  const auto as_whole = std::from_chars(first, last, whole);
  const auto as_double = std::from_chars(first, last, number);
  const char* end = as_double.ptr;
  if (as_whole.ptr == end) {
    if (as_whole.ec != std::errc()) fail(begin, "the whole number does not fit 64 bits");
    if (*first == '0' && end - first > 1 && whole != 0) fail(begin, "a number begins with 0");
    token.value = whole;
  } else {
    if (as_double.ec != std::errc()) fail(begin, "the number is beyond what a double holds");
    token.value = number;
  }
  token.end = position_ = begin + static_cast<std::size_t>(end - first);
  if (position_ < text_.size() && (continues_name(text_[position_]) || text_[position_] == '.')) {
    fail(begin, "the number is not readable");
  }
  return token;
}

ExpressionParser::Token ExpressionParser::scan_text(std::size_t begin) {
  const std::size_t close = text_.find(text_[begin], begin + 1);
  if (close == std::string_view::npos) fail(begin, "the quote is not closed");
  std::string value(text_.substr(begin + 1, close - begin - 1));
  if (value.find('\\') != std::string::npos) fail(begin, "a text cannot have a backslash");
  position_ = close + 1;
  return {.kind = TokenKind::text, .begin = begin, .end = position_, .value = std::move(value)};
}

std::string_view ExpressionParser::word() const {
  return text_.substr(token_.begin, token_.end - token_.begin);
}

bool ExpressionParser::at(std::string_view word_here) const {
  return (token_.kind == TokenKind::symbol || token_.kind == TokenKind::name) &&
         word() == word_here;
}

bool ExpressionParser::accept(std::string_view word_here) {
  if (!at(word_here)) return false;
  advance();
  return true;
}

void ExpressionParser::expect(std::string_view word_here, std::string_view where) {
  if (!accept(word_here)) {
    fail(token_.begin, fmt::format("'{}' is missing {}", word_here, where));
  }
}

std::size_t ExpressionParser::add(Kind kind, std::size_t column,
                                  std::vector<std::size_t> children) {
  Expression::Node node;
  node.kind = kind;
  node.column = node.begin = column;
  node.end = last_end_;
  if (!children.empty()) {
    node.begin = std::min(column, expression_.nodes_[children.front()].begin);
  }
  node.children = std::move(children);
  expression_.nodes_.push_back(std::move(node));
  return expression_.nodes_.size() - 1;
}

void ExpressionParser::fail(std::size_t column, const std::string& what) const {
  std::string_view here = text_.substr(std::min(column, text_.size()));
  const std::size_t shown = std::min<std::size_t>(here.size(), 12);
  throw Error("{} '{}', column {}{}: {}", what_, text_, column + 1,
              here.empty() ? " (its end)" : fmt::format(" ('{}')", here.substr(0, shown)), what);
}

}  // namespace fusebench
