// Every strategy: proposes each valid configuration at most once and in the end all, the same for the same seed,
// and is not drawn to failures. Catches a strategy that loops, repeats itself, or ends early.
#include "harness/tune/strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "harness/core/error.hpp"
#include "harness/tune/random_source.hpp"
#include "harness/tune/replay.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

std::vector<Value> wholes(std::int64_t first, std::int64_t last) {
  std::vector<Value> values;
  for (std::int64_t value = first; value <= last; ++value) values.emplace_back(value);
  return values;
}

SearchSpace space() {
  return SearchSpace({{"a", wholes(0, 9)},
                      {"b", wholes(1, 8)},
                      {"load", {std::string("ca"), std::string("cg"), std::string("cs")}},
                      {"one", wholes(7, 7)},
                      {"flag", {false, true}}},
                     {"(a + b) % 3 != 0"});
}

// A valley that a slope leads to, steeper for one word than for others; a fifth of the space fails.
std::optional<double> time_of(const SearchSpace& of, std::size_t index) {
  const SearchSpace::Row row = of.row(index);
  if ((row[0] * 7 + row[1] * 3 + row[2]) % 5 == 0) return std::nullopt;
  const double a = row[0] - 6.0;
  const double b = row[1] - 2.0;
  return 1e6 * (1.0 + 0.05 * (a * a + b * b) + 0.1 * row[2] + 0.02 * row[4]);
}

class EveryStrategy : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(All, EveryStrategy, testing::ValuesIn([] {
                           std::vector<const char*> names;
                           for (const StrategyInfo& known : strategies()) {
                             names.push_back(known.name);
                           }
                           return names;
                         }()),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST_P(EveryStrategy, ProposesEachConfigurationOnceAndThenNothing) {
  const SearchSpace of = space();
  const auto strategy = make_strategy(GetParam(), of, {.seed = test::seed(), .budget = 50});
  std::set<std::size_t> proposed;
  while (const auto index = strategy->ask()) {
    ASSERT_LT(*index, of.size());
    ASSERT_TRUE(proposed.insert(*index).second) << of.to_string(*index) << " again";
    strategy->tell(*index, time_of(of, *index));
  }
  EXPECT_EQ(proposed.size(), of.size());
  EXPECT_EQ(strategy->ask(), std::nullopt);
}

TEST_P(EveryStrategy, ProposesNoneThatItWasToldOf) {
  const SearchSpace of = space();
  const auto strategy = make_strategy(GetParam(), of, {.seed = test::seed()});
  for (std::size_t i = 0; i < of.size(); i += 2) strategy->tell(i, time_of(of, i));
  std::size_t count = 0;
  for (; const auto index = strategy->ask(); ++count) {
    ASSERT_EQ(*index % 2, 1U);
    strategy->tell(*index, time_of(of, *index));
  }
  EXPECT_EQ(count, of.size() / 2);
}

TEST_P(EveryStrategy, AsksAheadOfAnswersWithoutRepeatingItself) {
  const SearchSpace of = space();
  const auto strategy = make_strategy(GetParam(), of, {.seed = test::seed()});
  std::set<std::size_t> proposed;
  for (bool more = true; more;) {
    std::vector<std::size_t> batch;
    for (int i = 0; i < 7 && more; ++i) {
      const auto index = strategy->ask();
      more = index.has_value();
      if (more) batch.push_back(*index);
    }
    for (auto at = batch.rbegin(); at != batch.rend(); ++at) {
      EXPECT_TRUE(proposed.insert(*at).second);
      strategy->tell(*at, time_of(of, *at));
    }
  }
  EXPECT_EQ(proposed.size(), of.size());
}

TEST_P(EveryStrategy, IsTheSameForTheSameSeed) {
  const SearchSpace of = space();
  const auto proposals = [&](std::uint64_t seed) {
    const auto strategy = make_strategy(GetParam(), of, {.seed = seed, .budget = 80});
    std::vector<std::size_t> all;
    for (int i = 0; i < 80; ++i) {
      all.push_back(strategy->ask().value());
      strategy->tell(all.back(), time_of(of, all.back()));
    }
    return all;
  };
  EXPECT_EQ(proposals(3), proposals(3));
  if (std::string(GetParam()) == "exhaustive") return;
  EXPECT_NE(proposals(3), proposals(4));
}

TEST_P(EveryStrategy, EndsWhereEverythingFailsOrAllIsEqual) {
  const SearchSpace of = space();
  for (const std::optional<double> always : {std::optional<double>(), std::optional(1e6)}) {
    const auto strategy = make_strategy(GetParam(), of, {.seed = test::seed(), .budget = 30});
    std::size_t count = 0;
    for (; const auto index = strategy->ask(); ++count) strategy->tell(*index, always);
    EXPECT_EQ(count, of.size());
  }
}

TEST_P(EveryStrategy, SearchesASpaceOfOneConfiguration) {
  const SearchSpace one({{"a", wholes(1, 1)}}, std::vector<std::string>{});
  const auto strategy = make_strategy(GetParam(), one, {});
  EXPECT_EQ(strategy->ask(), std::size_t{0});
  strategy->tell(0, std::nullopt);
  EXPECT_EQ(strategy->ask(), std::nullopt);
}

TEST(Strategies, ThatLearnFindASlopesEndSoonerThanChanceDoes) {
  const SearchSpace of = space();
  RecordedSpace recorded{.kernel = "slope", .device = "none", .space = of, .observations = {}};
  for (std::size_t i = 0; i < of.size(); ++i) {
    Observation observation;
    const auto time = time_of(of, i);
    if (time) observation.time_ns = *time;
    if (!time) observation.invalidity = Invalidity::runtime;
    recorded.observations.push_back(observation);
  }
  const Yardstick yardstick(recorded);
  for (const char* name : {"model", "genetic", "annealing", "local"}) {
    const double score = score_strategy(recorded, yardstick, name, 100, 1).by_draws.mean;
    EXPECT_GT(score, 0.1) << name;
  }
}

TEST(Strategies, AnUnknownOneIsRefusedWithThoseThereAre) {
  const SearchSpace of = space();
  EXPECT_THAT([&] { (void)make_strategy("magic", of, {}); },
              testing::ThrowsMessage<Error>(testing::AllOf(testing::HasSubstr("'magic'"),
                                                           testing::HasSubstr("model, genetic"))));
}

TEST(RandomSource, IsTheStandardsEngine) {
  // The 10000th number of a default-seeded mt19937_64 is given by the standard, [rand.predef].
  std::mt19937_64 engine;
  engine.discard(9999);
  EXPECT_EQ(engine(), 9981545732273789042ULL);
  RandomSource random(5);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LT(random.below(7), 7U);
    const double u = random.uniform();
    EXPECT_TRUE(u >= 0.0 && u < 1.0);
  }
}

}  // namespace
}  // namespace fusebench
