// Constraint expressions: their values as Python gives them, and what is refused. Catches precedence and
// chaining that are C's, a remainder with the wrong sign, overflow that wraps, and errors that do not say where.
// tune_test.py compares random expressions with Python itself.
#include "harness/core/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "harness/core/error.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Value evaluate(const std::string& text, const std::map<std::string, Value>& names = {}) {
  const Expression expression(text);
  std::vector<Value> values;
  for (const std::string& name : expression.names()) values.push_back(names.at(name));
  return expression.evaluate(values);
}

Value whole(std::int64_t value) { return value; }

TEST(Expression, OperatorsBindAndGiveValuesAsInPython) {
  const std::map<std::string, Value> known = {
      {"1 + 2 * 3", whole(7)},
      {"(1 + 2) * 3", whole(9)},
      {"10 - 3 - 2", whole(5)},
      {"2 * 7 // 3", whole(4)},
      {"-7 // 2", whole(-4)},
      {"7 // -2", whole(-4)},
      {"-7 % 3", whole(2)},
      {"7 % -3", whole(-2)},
      {"-7 // -1", whole(7)},
      {"7 % -1", whole(0)},
      {"1 / 2", 0.5},
      {"4 / 2", 2.0},
      {"7.5 // 2", 3.0},
      {"-7.5 % 2", 0.5},
      {"1.5 + 1", 2.5},
      {"True + True", whole(2)},
      {"-True", whole(-1)},
      {"- -3", whole(3)},
      {"not 0", true},
      {"not 1 == 2", true},
      {"1 < 2 < 3", true},
      {"1 < 3 < 2", false},
      {"3 > 2 > 2", false},
      {"1 == 1.0 == True", true},
      {"2 == 2 != 3", true},
      {"0 or 'x'", std::string("x")},
      {"0 and 1 // 0", whole(0)},
      {"1 or 1 // 0", whole(1)},
      {"1 or 0 and 0", whole(1)},
      {"'' or 0.0", 0.0},
      {"3 in [1, 2, 3]", true},
      {"3 not in (1, 2)", true},
      {"True in [1]", true},
      {"1 in []", false},
      {"'a' in ['a', \"b\",]", true},
      {"'1' == 1", false},
      {"'a' < 'b'", true},
      {"not 1 in [1]", false},
      {"1 + 1 in [2]", true},
      {"9223372036854775807 == 9223372036854775806", false},
      {"9007199254740993 == 9007199254740992.0", false},
      {".5 + 1e2", 100.5},
  };
  for (const auto& [text, value] : known) {
    const Value found = evaluate(text);
    EXPECT_EQ(found.index(), value.index()) << text << " gives " << to_text(found);
    EXPECT_EQ(to_text(found), to_text(value)) << text;
  }
}

TEST(Expression, NamesAreThoseThatStandInItEachOnce) {
  const Expression expression("b * a <= 1024 and a != b or order == 'in'");
  EXPECT_THAT(expression.names(), ElementsAre("b", "a", "order"));
  EXPECT_EQ(evaluate("a * 2", {{"a", whole(4)}}), whole(8));
}

TEST(Expression, ConjunctsAreItsParts) {
  std::vector<std::string> texts;
  for (const Expression& part :
       Expression("a < 1 and (b or c) and (d > 2 and not e)").conjuncts()) {
    texts.push_back(part.text());
  }
  EXPECT_THAT(texts, ElementsAre("a < 1", "(b or c)", "d > 2", "not e"));
  EXPECT_EQ(Expression("a and b or c").conjuncts().size(), 1U);
}

TEST(Expression, WhatIsNoneIsRefusedWithTheColumn) {
  const std::map<std::string, std::vector<std::string>> refused = {
      {"", {"column 1", "value is missing"}},
      {"a <", {"column 4", "(its end)", "value is missing"}},
      {"a b", {"column 3", "'b'", "operator is missing"}},
      {"(a", {"column 3", "')' is missing"}},
      {"a)", {"column 2"}},
      {"a && b", {"column 3", "write 'and'"}},
      {"a || b", {"column 3", "write 'or'"}},
      {"!a", {"column 1", "write 'not'"}},
      {"a = 1", {"column 3", "write '=='"}},
      {"a ** 2", {"column 3", "powers"}},
      {"max(a, b)", {"column 1", "no functions"}},
      {"a in b", {"column 6", "'['"}},
      {"a in (1)", {"column 3", "no list"}},
      {"a in [1", {"column 8", "']'"}},
      {"1 < a in [1]", {"column 7", "parentheses"}},
      {"a in [1] == True", {"column 10", "parentheses"}},
      {"'a", {"column 1", "quote"}},
      {"1x", {"column 1", "not readable"}},
      {"1.2.3", {"column 1", "not readable"}},
      {"9223372036854775808", {"column 1", "64 bits"}},
      {"a and", {"column 6", "value is missing"}},
      {"a not b", {"column 7", "'in' is missing"}},
      {"a @ b", {"column 3", "no such operator"}},
      {std::string(1000, '('), {"nested"}},
      {std::string(1000, '-'), {"nested"}},
  };
  for (const auto& [text, words] : refused) {
    std::string message = "nothing was refused";
    try {
      const Expression expression(text);
    } catch (const Error& error) {
      message = error.what();
    }
    for (const std::string& word : words) EXPECT_THAT(message, HasSubstr(word)) << text;
  }
}

TEST(Expression, WhatHasNoValueIsRefusedWithTheColumn) {
  const std::map<std::string, std::string> refused = {
      {"1 // 0", "column 3: division by 0"},
      {"1 % 0", "column 3: division by 0"},
      {"1.0 / 0", "column 5: division by 0"},
      {"'a' + 1", "column 5: a text cannot be calculated with"},
      {"-'a'", "column 1: a text cannot be calculated with"},
      {"1 < 'a'", "a whole number and a text have no order"},
      {"9223372036854775807 + 1", "column 21: the result does not fit 64 bits"},
      {"3037000500 * 3037000500", "column 12: the result does not fit 64 bits"},
      {"(-9223372036854775807 - 1) // -1", "64 bits"},
      {"-(-9223372036854775807 - 1)", "64 bits"},
  };
  for (const auto& [text, what] : refused) {
    EXPECT_THAT([&] { (void)evaluate(text); },
                ThrowsMessage<Error>(AllOf(HasSubstr(text), HasSubstr(what))));
  }
}

TEST(Expression, NeverTrueIsSaidOnlyOfWhatNoValueWithinTheBoundsMakesTrue) {
  std::mt19937_64 random(test::seed());
  const std::vector<std::string> texts = {"a * b <= 4",
                                          "a + b * c > 20",
                                          "a - b == c",
                                          "a % b == c",
                                          "a // b >= 2",
                                          "a / b < 0.5",
                                          "not a * b * c < 40",
                                          "a < b < c",
                                          "a == 0 or b * c < 2",
                                          "a * b > 8 and c != 3",
                                          "-a > b",
                                          "a != b or c % 2 == 0",
                                          "(a > 2 and b) * c > 3",
                                          "a in [1, 2] or b > c"};
  int never = 0;
  for (int round = 0; round < 20000; ++round) {
    const Expression expression(texts[random() % texts.size()]);
    std::vector<Bounds> bounds;
    std::vector<std::vector<Value>> choices;
    for (std::size_t i = 0; i < expression.names().size(); ++i) {
      const auto low = 1 + static_cast<std::int64_t>(random() % 5);
      const auto high = low + static_cast<std::int64_t>(random() % 4);
      bounds.push_back(
          {.low = static_cast<long double>(low), .high = static_cast<long double>(high)});
      choices.emplace_back();
      for (std::int64_t value = low; value <= high; ++value) choices.back().emplace_back(value);
    }
    if (!expression.never_true(bounds)) continue;
    ++never;
    std::vector<std::size_t> at(choices.size(), 0);
    for (std::size_t i = 0; i < at.size();) {
      std::vector<Value> values;
      for (std::size_t k = 0; k < at.size(); ++k) values.push_back(choices[k][at[k]]);
      ASSERT_FALSE(is_true(expression.evaluate(values))) << expression.text();
      for (i = 0; i < at.size() && ++at[i] == choices[i].size(); ++i) at[i] = 0;
    }
  }
  EXPECT_GT(never, 2000);
}

TEST(ValueList, IsReadAsPythonWritesIt) {
  const std::vector<Value> values = parse_value_list("the list", "[16, -1, 2*8+1, 0.5, 'a', True]");
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(to_text(value));
  EXPECT_THAT(texts, ElementsAre("16", "-1", "17", "0.5", "a", "True"));
  EXPECT_TRUE(parse_value_list("the list", "[]").empty());
  for (const std::string text : {"16", "[16", "[16] 1", "[a]", ""}) {
    EXPECT_THAT([&] { (void)parse_value_list("the list", text); },
                ThrowsMessage<Error>(HasSubstr("the list '" + text + "', column ")));
  }
}

TEST(Value, TextsTellKindsApartAsPythonDoes) {
  EXPECT_EQ(to_text(1.0), "1.0");
  EXPECT_EQ(to_text(whole(1)), "1");
  EXPECT_EQ(to_text(true), "True");
  EXPECT_EQ(to_text(0.1), "0.1");
  EXPECT_TRUE(equal(1.0, whole(1)));
  EXPECT_FALSE(equal(std::string("1"), whole(1)));
}

}  // namespace
}  // namespace fusebench
