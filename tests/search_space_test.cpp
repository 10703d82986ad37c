// Spaces: exactly the combinations that the constraints allow, however they are reached. Catches a branch
// pruned too early, rows lost or doubled, neighbours that are none, and spaces that cannot be searched.
#include "harness/tune/search_space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "harness/core/error.hpp"
#include "harness/core/properties.hpp"
#include "harness/core/registry.hpp"
#include "harness/tune/variant_space.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Place = SearchSpace::Place;

std::vector<Value> wholes(std::initializer_list<std::int64_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

SearchSpace small() {
  return SearchSpace({{"block", wholes({32, 64, 128, 256})},
                      {"tile", wholes({1, 2, 4})},
                      {"load", {std::string("cached"), std::string("streaming")}}},
                     {"block * tile <= 256", "load == 'cached' or tile > 1"});
}

// Every combination, each constraint evaluated on it whole.
std::vector<std::vector<Place>> by_brute_force(const std::vector<SpaceParameter>& parameters,
                                               const std::vector<std::string>& constraints,
                                               const Properties& properties) {
  std::vector<Expression> expressions;
  for (const std::string& text : constraints) expressions.emplace_back(text);
  std::vector<std::vector<Place>> rows;
  std::vector<Place> row(parameters.size(), 0);
  for (;;) {
    const bool valid =
        std::all_of(expressions.begin(), expressions.end(), [&](const Expression& e) {
          std::vector<Value> values;
          for (const std::string& name : e.names()) {
            std::size_t i = 0;
            while (i < parameters.size() && parameters[i].name != name) ++i;
            values.push_back(i < parameters.size() ? parameters[i].values[row[i]]
                                                   : properties.at(name));
          }
          return is_true(e.evaluate(values));
        });
    if (valid) rows.push_back(row);
    std::size_t i = row.size();
    while (i > 0 && ++row[i - 1] == parameters[i - 1].values.size()) row[--i] = 0;
    if (i == 0) return rows;
  }
}

TEST(SearchSpace, HasExactlyWhatTheConstraintsAllowInOrder) {
  const SearchSpace space = small();
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < space.size(); ++i) texts.push_back(space.to_string(i));
  EXPECT_THAT(texts, testing::ElementsAre(
                         "block=32,tile=1,load=cached", "block=32,tile=2,load=cached",
                         "block=32,tile=2,load=streaming", "block=32,tile=4,load=cached",
                         "block=32,tile=4,load=streaming", "block=64,tile=1,load=cached",
                         "block=64,tile=2,load=cached", "block=64,tile=2,load=streaming",
                         "block=64,tile=4,load=cached", "block=64,tile=4,load=streaming",
                         "block=128,tile=1,load=cached", "block=128,tile=2,load=cached",
                         "block=128,tile=2,load=streaming", "block=256,tile=1,load=cached"));
  EXPECT_EQ(space.raw_size(), 24.0);
}

TEST(SearchSpace, RandomSpacesAreThoseOfBruteForce) {
  std::mt19937_64 random(test::seed());
  const std::vector<std::string> pool = {"a * b * c <= 24",
                                         "a + b > c",
                                         "d in [1, 4] or a == b",
                                         "c % d == 0",
                                         "a < b < c",
                                         "not (a == 2 and d == 3)",
                                         "a * d // b >= limit - 6",
                                         "limit > a * c",
                                         "b != 3",
                                         "(a == 1 or b == 1) and d",
                                         "e == 'x' or c >= 2",
                                         "a / b <= 2.5",
                                         "1 <= a * b - c * d <= limit",
                                         "e != 'y' and a + d < 8"};
  const Properties properties = {{"limit", std::int64_t{12}}};
  int full = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<SpaceParameter> parameters;
    for (const char* name : {"a", "b", "c", "d"}) {
      std::vector<Value> values;
      const auto count = 1 + static_cast<std::int64_t>(random() % 5);
      for (std::int64_t value = 1; value <= count; ++value) values.emplace_back(value);
      std::shuffle(values.begin(), values.end(), random);
      parameters.push_back({name, values});
    }
    parameters.push_back({"e", {std::string("x"), std::string("y"), std::string("z")}});
    std::shuffle(parameters.begin(), parameters.end(), random);
    std::vector<std::string> constraints;
    for (std::size_t i = random() % 5; i > 0; --i)
      constraints.push_back(pool[random() % pool.size()]);
    const auto expected = by_brute_force(parameters, constraints, properties);
    if (expected.empty()) {
      EXPECT_THAT([&] { SearchSpace(parameters, constraints, properties); },
                  ThrowsMessage<Error>(HasSubstr("the space is empty")));
      continue;
    }
    ++full;
    const SearchSpace space(parameters, constraints, properties);
    ASSERT_EQ(space.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_TRUE(std::ranges::equal(space.row(i), expected[i])) << space.to_string(i);
      ASSERT_EQ(space.index_of(expected[i]), i);
    }
  }
  EXPECT_GT(full, 200);
}

TEST(SearchSpace, ABillionCombinationsOfWhichAMillionAreValidAreEnumerated) {
  std::vector<SpaceParameter> parameters;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) {
    parameters.push_back({name, wholes({1, 2, 3, 4, 5, 6, 7, 8, 9, 10})});
  }
  // The third binds the first and the last parameter; the others leave 10^3 * 10^3 of a..f and g..i.
  const SearchSpace space(parameters, {"a == b and c == d and e == f", "(a + i) % 1 == 0"});
  EXPECT_EQ(space.raw_size(), 1e9);
  EXPECT_EQ(space.size(), 1'000'000U);
  // As many as there are ways to multiply nine of the values to at most 700, counted product by product.
  std::map<std::int64_t, std::size_t> ways = {{1, 1}};
  for (int factor = 0; factor < 9; ++factor) {
    std::map<std::int64_t, std::size_t> next;
    for (const auto& [product, count] : ways) {
      for (std::int64_t value = 1; value <= 10; ++value) {
        if (product * value <= 700) next[product * value] += count;
      }
    }
    ways = std::move(next);
  }
  std::size_t expected = 0;
  for (const auto& [product, count] : ways) expected += count;
  const SearchSpace bounded(parameters, {"a * b * c * d * e * f * g * h * i <= 700"});
  EXPECT_EQ(bounded.size(), expected);
  EXPECT_GT(expected, 900'000U);
}

TEST(SearchSpace, IndexAndRowAreOneAnothersInverse) {
  const SearchSpace space = small();
  for (std::size_t i = 0; i < space.size(); ++i) EXPECT_EQ(space.index_of(space.row(i)), i);
  EXPECT_EQ(space.index_of(std::vector<Place>{3, 1, 0}), std::nullopt);
  EXPECT_EQ(space.place_of(0, 64.0), Place{1});
  EXPECT_EQ(space.place_of(0, std::int64_t{65}), std::nullopt);
}

TEST(SearchSpace, NeighboursAreTheValidOnesThatDifferInOneParameter) {
  const SearchSpace space = small();
  for (std::size_t i = 0; i < space.size(); ++i) {
    std::set<std::size_t> expected;
    std::set<std::size_t> near;
    for (std::size_t k = 0; k < space.size(); ++k) {
      int different = 0;
      int steps = 0;
      for (std::size_t p = 0; p < 3; ++p) {
        different += space.row(i)[p] != space.row(k)[p] ? 1 : 0;
        if (p < 2) steps += std::abs(space.row(i)[p] - space.row(k)[p]);
      }
      if (different == 1) expected.insert(k);
      if (different == 1 && steps <= 1) near.insert(k);
    }
    EXPECT_THAT(space.neighbours(i), testing::UnorderedElementsAreArray(expected));
    EXPECT_THAT(space.near_neighbours(i), testing::UnorderedElementsAreArray(near));
  }
}

TEST(SearchSpace, OrdinalAreNumbersInOrder) {
  const SearchSpace space({{"rising", wholes({1, 2, 4})},
                           {"falling", wholes({4, 2, 1})},
                           {"mixed", wholes({1, 4, 2})},
                           {"two", wholes({0, 1})},
                           {"word", {std::string("a"), std::string("b"), std::string("c")}}},
                          std::vector<std::string>{});
  const std::vector<bool> expected = {true, true, false, false, false};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(space.is_ordinal(i), expected[i]);
}

TEST(SearchSpace, WhatIsNoneIsRefusedByName) {
  const std::vector<SpaceParameter> two = {{"a", wholes({1, 2})}, {"b", wholes({1, 2})}};
  const auto refused = [](std::vector<SpaceParameter> parameters,
                          std::vector<std::string> constraints,
                          const std::vector<std::string>& words) {
    std::string message = "nothing was refused";
    try {
      const SearchSpace space(std::move(parameters), constraints, Properties{});
    } catch (const Error& error) {
      message = error.what();
    }
    for (const std::string& word : words) EXPECT_THAT(message, HasSubstr(word));
  };
  refused({}, {}, {"no parameter"});
  refused({{"a", std::vector<Value>{}}}, {}, {"'a'", "no values"});
  refused({{"a", wholes({1, 1})}}, {}, {"'a'", "1 twice"});
  refused({{"a", {true, std::int64_t{1}}}}, {}, {"'a'", "twice"});
  refused({{"a", wholes({1})}, {"a", wholes({2})}}, {}, {"'a'", "declared twice"});
  refused(two, {"a < c"}, {"'a < c'", "'c'", "there is: a, b"});
  refused(two, {"a <"}, {"'a <'", "column 4"});
  refused(two, {"a // (b - 1) == 1"}, {"division by 0"});
  refused(two, {"a < 3", "a > b and b > a"}, {"empty", "'a > b and b > a'"});
  refused(two, {"a > b", "b > a"}, {"empty", "together"});
}

TEST(VariantSpace, HasEveryVariantsConfigurationsByTheSameNames) {
  std::size_t tunable = 0;
  for (const Operator* op : registry().operators()) {
    for (const Variant* variant : registry().variants(op->name())) {
      const ParameterSpace& parameters = variant->info().parameters;
      if (parameters.parameters().empty()) {
        EXPECT_THROW((void)variant_space(parameters), Error);
        continue;
      }
      ++tunable;
      std::set<std::string> expected;
      for (const Configuration& one : parameters.all()) expected.insert(one.to_string());
      std::set<std::string> found;
      const SearchSpace space = variant_space(parameters);
      for (std::size_t i = 0; i < space.size(); ++i) found.insert(space.to_string(i));
      EXPECT_EQ(found, expected) << variant->info().name;
    }
  }
  EXPECT_GT(tunable, 3U);
}

TEST(VariantSpace, ConstraintsNameParametersSizesAndPropertiesOfDevicesOnly) {
  for (const Operator* op : registry().operators()) {
    const Problem problem = op->parse_problem("quick");
    for (const Variant* variant : registry().variants(op->name())) {
      DeviceTraits traits;
      traits.architecture = Architecture{.number = 90, .specific = true};
      const Properties properties = properties_of(problem, traits);
      const ParameterSpace& space = variant->info().parameters;
      for (const Expression& constraint : space.constraints()) {
        for (const std::string& name : constraint.names()) {
          const bool known = std::any_of(space.parameters().begin(), space.parameters().end(),
                                         [&](const Parameter& one) { return one.name == name; });
          EXPECT_TRUE(known || properties.contains(name))
              << variant->info().name << ": '" << constraint.text() << "' names " << name;
        }
      }
    }
  }
}

TEST(VariantSpace, FindsAConfigurationByItsText) {
  const ParameterSpace parameters({{"a", integers({1, 2, 3}), "1"}, {"b", {"x", "y"}, "x"}},
                                  {"a < 3 or b == 'x'", "a < n"});
  const SearchSpace space = variant_space(parameters, {{"n", std::int64_t{3}}});
  EXPECT_EQ(space.size(), 4U);
  for (std::size_t i = 0; i < space.size(); ++i) EXPECT_EQ(index_of(space, space.to_string(i)), i);
  for (const char* text : {"", "a=1", "a=4,b=x", "b=x,a=1", "a=1,b=x,c=1", "a=3,b=x", "nonsense"}) {
    EXPECT_EQ(index_of(space, text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace fusebench
