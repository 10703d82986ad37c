// One variant's search. Catches a default that is not measured, entries of other sources that are taken up, a
// configuration proposed twice, a default that noise has replaced, what is known to be good left out by a small budget, a final that favours whoever comes first in
// a round or crowns who failed in it, and kernels compiled twice.
#include "harness/cli/variant_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/session/variant_sources.hpp"
#include "harness/tune/variant_space.hpp"

namespace fusebench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const Variant& cpu_in_place() {
  return registry().find_variant("residual_epilogue", "cpu_in_place");
}

std::unique_ptr<VariantSearch> search(std::size_t budget, const std::string& strategy = "random",
                                      const std::vector<std::string>& first = {}) {
  const Variant& variant = cpu_in_place();
  const ParameterSpace& parameters = variant.info().parameters;
  Item item{.op = &registry().find_operator("residual_epilogue"), .variant = &variant};
  item.job.operator_name = "residual_epilogue";
  item.job.variant = "cpu_in_place";
  item.job.configuration = parameters.default_configuration().to_string();
  auto made = std::make_unique<VariantSearch>(item, variant_space(parameters), budget,
                                              TuningBasis{.source = "now"});
  made->begin(strategy, 1, first);
  return made;
}

TEST(VariantSearch, MeasuresTheDefaultThenWhatIsKnownThenEachOnceUpToTheBudget) {
  const std::string known = "chunk=65536,unroll=4,store=cached";
  for (const StrategyInfo& strategy : strategies()) {
    const auto one = search(10, strategy.name, {known, "chunk=7", known});
    std::vector<std::string> proposed;
    while (const auto index = one->propose()) {
      proposed.push_back(one->space().to_string(*index));
      one->learn(*index, "passed", 100.0, {});
    }
    ASSERT_THAT(proposed, SizeIs(10)) << strategy.name;
    EXPECT_EQ(proposed[0], one->item().job.configuration);
    EXPECT_EQ(proposed[1], known);
    EXPECT_EQ(std::set<std::string>(proposed.begin(), proposed.end()).size(), 10U) << strategy.name;
  }
}

TEST(VariantSearch, MeasuresTheDefaultAndWhatIsKnownWhateverTheBudget) {
  const std::string known = "chunk=65536,unroll=4,store=cached";
  for (const bool first_only : {false, true}) {
    const auto one = search(1, "random", {known});
    std::vector<std::string> proposed;
    while (const auto index = one->propose(first_only)) {
      proposed.push_back(one->space().to_string(*index));
      one->learn(*index, "passed", 100.0, {});
    }
    EXPECT_THAT(proposed, ElementsAre(one->item().job.configuration, known));
    EXPECT_EQ(one->left(), 0U);
    EXPECT_TRUE(one->has_passed(known));
  }
  const auto none = search(10, "random", {known});
  EXPECT_FALSE(none->has_passed(known));
  (void)none->propose(true);
  (void)none->propose(true);
  EXPECT_FALSE(none->propose(true)) << "the strategy is not asked";
  EXPECT_TRUE(none->propose());
}

TEST(VariantSearch, EndsWithTheSpace) {
  const auto one = search(1000);
  std::size_t count = 0;
  while (const auto index = one->propose()) {
    one->learn(*index, "failed", 0.0, {});
    ++count;
  }
  EXPECT_EQ(count, one->space().size());
  EXPECT_EQ(one->failures().at("failed"), count);
  one->begin_final(8);
  EXPECT_FALSE(one->next_in_final());
  EXPECT_EQ(one->champion().configuration, "");
}

TEST(VariantSearch, TakesUpOnlyWhatHasTheSameBasisAndIsAConfiguration) {
  const auto one = search(10);
  TuningEntry entry{.variant = "cpu_in_place",
                    .configuration = one->item().job.configuration,
                    .outcome = "passed",
                    .median_ns = 5.0,
                    .basis = one->basis()};
  TuningEntry other = entry;
  other.basis.source = "before";
  EXPECT_FALSE(one->take_up(other));
  EXPECT_EQ(one->obstacle_to(other), "of other sources of the variant");
  other = entry;
  other.basis.toolkit = "another";
  EXPECT_FALSE(one->take_up(other));
  EXPECT_EQ(one->obstacle_to(other), "of another toolkit");
  other = entry;
  other.variant = "cpu_threads";
  EXPECT_FALSE(one->take_up(other));
  other = entry;
  other.configuration = "chunk=7,unroll=1,store=cached";
  EXPECT_FALSE(one->take_up(other));
  EXPECT_EQ(one->obstacle_to(other), "no configuration of the space");
  other = entry;
  other.stage = "final";
  EXPECT_FALSE(one->take_up(other));
  EXPECT_EQ(one->done(), 0U);
  EXPECT_FALSE(one->knows(entry.configuration));
  EXPECT_EQ(one->obstacle_to(entry), "");
  EXPECT_TRUE(one->take_up(entry));
  EXPECT_TRUE(one->knows(entry.configuration));
  EXPECT_FALSE(one->take_up(entry));
  EXPECT_EQ(one->done(), 1U);
  EXPECT_NE(one->space().to_string(one->propose().value()), entry.configuration);
}

TEST(VariantSearch, AFailureInAFinalOutweighsThatItHadPassed) {
  const auto made = search(10);
  TuningEntry passed{.variant = "cpu_in_place",
                     .configuration = made->item().job.configuration,
                     .outcome = "passed",
                     .median_ns = 5.0,
                     .basis = made->basis()};
  TuningEntry failed = passed;
  failed.stage = "final";
  failed.outcome = "wrong";
  failed.median_ns = 0.0;
  for (const bool failure_first : {false, true}) {
    const auto one = search(10);
    EXPECT_TRUE(one->take_up(failure_first ? failed : passed));
    EXPECT_EQ(one->take_up(failure_first ? passed : failed), !failure_first);
    EXPECT_EQ(one->done(), 1U);
    EXPECT_FALSE(one->best_ns());
    EXPECT_FALSE(one->has_passed(passed.configuration));
    EXPECT_EQ(one->failures().at("wrong"), 1U);
    EXPECT_EQ(one->champion().configuration, "");
  }
}

// Three that are close and one that is not: the default, which is there to be compared with.
std::unique_ptr<VariantSearch> with_final() {
  auto one = search(4, "exhaustive");
  double time = 200.0;
  while (const auto index = one->propose()) {
    one->learn(*index, "passed", time, std::vector<double>(6, time));
    time = time > 150.0 ? 100.0 : time + 0.1;
  }
  one->begin_final(8);
  return one;
}

TEST(Final, GoesForthAndBackThroughTheBestAndTheDefault) {
  const auto one = with_final();
  const std::size_t steps = one->final_steps_left();
  ASSERT_EQ(steps % 4, 0U);
  std::vector<std::size_t> order;
  while (const auto index = one->next_in_final()) {
    order.push_back(*index);
    one->learn_in_final(100.0);
  }
  ASSERT_EQ(order.size(), steps);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(order[i], order[7 - i]);
  EXPECT_THAT(one->final_entries(), SizeIs(4));
  const Champion champion = one->champion();
  EXPECT_THAT(champion.ties, SizeIs(3)) << "all times are equal";
}

TEST(Final, ChoosesByTheRoundsAndGivesTheGainOverTheDefault) {
  const auto one = with_final();
  const std::string usual = one->item().job.configuration;
  double level = 100.0;
  for (std::size_t step = 1; const auto index = one->next_in_final(); ++step) {
    const bool is_usual = one->space().to_string(*index) == usual;
    one->learn_in_final(is_usual ? 1.5 * level : level);
    if (step % 4 == 0) level *= 2.0;  // far more than they differ by, from round to round
  }
  const Champion champion = one->champion();
  EXPECT_NE(champion.configuration, usual);
  EXPECT_DOUBLE_EQ(champion.default_ratio, 1.5);
  ASSERT_TRUE(champion.of_ratio);
  EXPECT_DOUBLE_EQ(champion.of_ratio->low, 1.5);
  EXPECT_THAT(champion.ties, SizeIs(2));
}

// Runs `steps` of a final of four; in round r the default takes usual[r], the others 100 and a little more each.
void run_final(VariantSearch& one, std::size_t steps, const std::vector<double>& usual) {
  std::map<std::size_t, std::size_t> round;
  while (steps-- > 0) {
    const std::size_t index = one.next_in_final().value();
    const bool is_usual = one.space().to_string(index) == one.item().job.configuration;
    const double time = is_usual ? usual[round[index]] : 100.0 + static_cast<double>(index);
    ++round[index];
    one.learn_in_final(time);
  }
}

TEST(Final, KeepsTheDefaultWhereNothingCanBeToldToBeFaster) {
  const auto one = with_final();
  const std::string usual = one->item().job.configuration;
  run_final(*one, one->final_steps(), {99.0, 120.0, 120.0, 120.0, 120.0, 120.0, 120.0});
  const Champion champion = one->champion();
  EXPECT_EQ(champion.configuration, usual);
  EXPECT_TRUE(champion.kept_default);
  EXPECT_DOUBLE_EQ(champion.median_ns, 120.0);
  EXPECT_DOUBLE_EQ(champion.default_ratio, 1.0);
  EXPECT_FALSE(champion.of_ratio);
  ASSERT_FALSE(champion.ties.empty());
  EXPECT_THAT(champion.ties, testing::Not(testing::Contains(usual)));
}

TEST(Final, ThatIsEndedEarlyIsDecidedByItsWholeRoundsAndClaimsNoInterval) {
  const std::vector<double> usual(VariantSearch::rounds, 120.0);
  for (std::size_t steps = 0; steps <= 4 * VariantSearch::rounds; ++steps) {
    const auto one = with_final();
    run_final(*one, steps, usual);
    const std::size_t done = steps / 4;
    EXPECT_EQ(one->final_rounds(), done);
    const Champion champion = one->champion();
    EXPECT_NE(champion.configuration, one->item().job.configuration);
    EXPECT_EQ(champion.of_ratio.has_value(), done == VariantSearch::rounds);
    const auto entries = one->final_entries();
    EXPECT_THAT(entries, SizeIs(done < VariantSearch::least_rounds ? 0 : 4)) << steps;
    for (const TuningEntry& entry : entries) EXPECT_THAT(entry.samples_ns, SizeIs(done));
  }
}

TEST(Final, WhoFailsLeaves) {
  const auto one = with_final();
  std::optional<std::size_t> failing = one->next_in_final();
  one->learn_in_final(std::nullopt);
  while (const auto index = one->next_in_final()) {
    EXPECT_NE(index, failing);
    one->learn_in_final(100.0);
  }
  EXPECT_THAT(one->final_entries(), SizeIs(3));
  EXPECT_NE(one->champion().configuration, one->space().to_string(*failing));
  EXPECT_FALSE(one->has_passed(one->space().to_string(*failing)));
  EXPECT_EQ(one->failures().at("failed"), 1U);
  EXPECT_FALSE(one->needs_another_final());
}

TEST(Final, NobodyIsTheBestWhereAllHaveFailed) {
  const auto one = with_final();
  while (one->next_in_final()) one->learn_in_final(std::nullopt, "wrong");
  EXPECT_EQ(one->champion().configuration, "");
  EXPECT_FALSE(one->best_ns());
  EXPECT_THAT(one->final_entries(), IsEmpty());
  EXPECT_EQ(one->failures().at("wrong"), 4U);
}

TEST(Final, WhereAllTheBestFailThoseBehindThemDecide) {
  const auto one = search(6, "exhaustive");
  std::vector<std::size_t> order;
  while (const auto index = one->propose()) {
    const double time = order.empty() ? 200.0 : order.size() < 3 ? 100.0 : 120.0;
    order.push_back(*index);
    one->learn(*index, "passed", time, std::vector<double>(6, time));
  }
  one->begin_final(8);
  std::set<std::size_t> first;
  while (const auto index = one->next_in_final()) {
    first.insert(*index);
    const bool is_usual = *index == order[0];
    one->learn_in_final(is_usual ? std::optional(200.0) : std::nullopt, "crashed");
  }
  EXPECT_EQ(first, std::set<std::size_t>(order.begin(), order.begin() + 3));
  ASSERT_TRUE(one->needs_another_final());
  one->begin_final(8);
  std::set<std::size_t> second;
  while (const auto index = one->next_in_final()) {
    second.insert(*index);
    one->learn_in_final(*index == order[4] ? 110.0 : 120.0);
  }
  EXPECT_EQ(second, (std::set<std::size_t>{order[0], order[3], order[4], order[5]}));
  EXPECT_FALSE(one->needs_another_final());
  EXPECT_EQ(one->champion().configuration, one->space().to_string(order[4]));
}

TEST(Final, HasWhoWasMeasuredTooSeldomToBeToldFromTheBest) {
  const auto one = search(3, "exhaustive");
  while (const auto index = one->propose()) {
    const bool first = one->done() == 0;
    const double time = first ? 100.0 : 300.0;
    one->learn(*index, "passed", time, std::vector<double>(first ? 5 : 6, time));
  }
  one->begin_final(8);
  EXPECT_EQ(one->final_steps_left() % 3, 0U);
  EXPECT_GT(one->final_steps_left(), 0U);
}

TEST(Final, HasWhatWasKnownToBeGoodHoweverSlowItIs) {
  const std::string known = "chunk=65536,unroll=4,store=cached";
  const auto one = search(5, "exhaustive", {known});
  while (const auto index = one->propose()) {
    const double time = one->space().to_string(*index) == known ? 900.0 : 100.0;
    one->learn(*index, "passed", time, std::vector<double>(6, time));
  }
  one->begin_final(2);
  std::set<std::string> contestants;
  while (const auto index = one->next_in_final()) {
    contestants.insert(one->space().to_string(*index));
    one->learn_in_final(100.0);
  }
  EXPECT_TRUE(contestants.contains(known));
}

TEST(Final, ThereIsNoneOfOne) {
  const auto one = search(1);
  one->learn(*one->propose(), "passed", 7.0, {});
  one->begin_final(8);
  EXPECT_FALSE(one->next_in_final());
  EXPECT_EQ(one->champion().configuration, one->item().job.configuration);
  EXPECT_DOUBLE_EQ(one->champion().default_ratio, 1.0);
}

TEST(Likely, NamesWhatIsProposedFirstAndNothingThatIsKnownOrMeasured) {
  const auto one = search(10);
  one->learn(*one->propose(), "passed", 7.0, {});
  const std::size_t next = *one->propose();  // random: more are proposed ahead
  const auto nothing = [](const Configuration&) { return false; };
  const auto all = one->likely(1000, nothing);
  std::set<std::string> names;
  for (const Configuration& each : all) names.insert(each.to_string());
  EXPECT_FALSE(names.contains(one->item().job.configuration));
  one->learn(next, "passed", 7.0, {});
  const std::size_t after = *one->propose();
  EXPECT_EQ(all[0].to_string(), one->space().to_string(after));
  EXPECT_THAT(one->likely(1000, [](const Configuration&) { return true; }), IsEmpty());
  EXPECT_THAT(one->likely(3, nothing), SizeIs(3));
}

TEST(SourceHash, IsOfTheVariantsOwnSources) {
  const auto hash = [](const char* name) {
    return source_hash(registry().find_variant("residual_epilogue", name), "");
  };
  std::set<std::string> hashes;
  for (const Variant* variant : registry().variants("residual_epilogue")) {
    hashes.insert(source_hash(*variant, ""));
    EXPECT_TRUE(registry().sources().contains(registry().file_of(*variant)))
        << variant->info().name << " is registered in " << registry().file_of(*variant);
  }
  EXPECT_EQ(hashes.size(), registry().variants("residual_epilogue").size());
  EXPECT_EQ(hash("cpu_threads"), hash("cpu_threads"));
}

}  // namespace
}  // namespace fusebench
