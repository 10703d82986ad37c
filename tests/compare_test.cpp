// Verdicts on two nights. Catches a regression that is not called, a verdict on what does not compare, a wrong
// result that hides behind other conditions, a replica counted twice, and a slow machine taken for a slow kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "harness/compare/comparison.hpp"
#include "harness/core/error.hpp"
#include "seed.hpp"

namespace fusebench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

Record record_of(const std::string& variant, int replica, double median_ns) {
  Record record;
  record.run_id = "a run";
  record.operator_name = "op";
  record.variant = variant;
  record.configuration = "default";
  record.problem = "n=1";
  record.replica = replica;
  record.outcome = Outcome::passed;
  record.median_ns = median_ns;
  record.device_name = "GPU";
  record.driver = "1";
  record.toolkit = "2";
  record.clock_policy = "default";
  return record;
}

using Change = std::function<void(Record&)>;

// Ten replicas, 0.1% apart from one another, whose median is that of `median_ns`.
void add_replicas(Night& night, const std::string& variant, double median_ns,
                  const Change& change = {}, int count = 10) {
  for (int i = 0; i < count; ++i) {
    Record record = record_of(variant, i, median_ns * (1.0 + 0.0001 * (i - (count - 1) / 2.0)));
    if (change) change(record);
    night.add(record);
  }
}

SeriesComparison only(const Night& before, const Night& after, const CompareRules& rules = {}) {
  const Comparison comparison = compare(before, after, rules);
  EXPECT_EQ(comparison.series.size(), 1U);
  return comparison.series.at(0);
}

SeriesComparison changed(double ratio, const Change& before = {}, const Change& after = {}) {
  Night a("old.csv"), b("new.csv");
  add_replicas(a, "v", 1000, before);
  add_replicas(b, "v", 1000 * ratio, after);
  return only(a, b);
}

TEST(Compare, CallsAChangeOfTheFloorInEitherDirectionAndNothingBelowIt) {
  EXPECT_EQ(changed(1.0).verdict, Verdict::same);
  EXPECT_EQ(changed(1.004).verdict, Verdict::same);
  EXPECT_EQ(changed(1 / 1.004).verdict, Verdict::same);
  EXPECT_EQ(changed(1.0051).verdict, Verdict::slower);
  EXPECT_EQ(changed(1 / 1.0051).verdict, Verdict::faster);
  EXPECT_EQ(changed(1.005).verdict, Verdict::slower);  // of exactly the floor, whatever is rounded
  EXPECT_EQ(changed(1 / 1.005).verdict, Verdict::faster);
  const SeriesComparison series = changed(1.02);
  EXPECT_NEAR(*series.ratio, 1.02, 1e-12);
  EXPECT_NEAR(*series.old_median_ns, 1000, 1e-9);
  EXPECT_NEAR(*series.new_median_ns, 1020, 1e-9);
  EXPECT_GT(series.interval->low, 1.015);
  EXPECT_LT(series.interval->high, 1.025);
  EXPECT_NEAR(*series.p, 1.082508822446903e-05, 1e-12);
  EXPECT_EQ(series.reason, "");
}

TEST(Compare, TakesItsFloorFromTheRules) {
  Night a("a"), b("b");
  add_replicas(a, "v", 1000);
  add_replicas(b, "v", 1030);
  EXPECT_EQ(only(a, b, {.floor = 0.04}).verdict, Verdict::same);
  EXPECT_EQ(only(a, b, {.floor = 0.02}).verdict, Verdict::slower);
  EXPECT_THROW((void)compare(a, b, {.floor = 0.0}), Error);
}

TEST(Compare, NeedsEightReplicasASide) {
  for (const auto& [before, after] :
       {std::pair{10, 1}, {10, 5}, {10, 7}, {10, 8}, {1, 10}, {7, 10}, {8, 10}, {8, 8}, {7, 7}}) {
    Night a("a"), b("b");
    add_replicas(a, "v", 1000, {}, before);
    add_replicas(b, "v", 2000, {}, after);
    const SeriesComparison series = only(a, b);
    const bool enough = before >= 8 && after >= 8;
    EXPECT_EQ(series.verdict, enough ? Verdict::slower : Verdict::ambiguous) << before << after;
    EXPECT_EQ(series.adjusted_p.has_value(), enough);
    if (enough) continue;
    EXPECT_THAT(series.reason, AllOf(HasSubstr(std::to_string(before) + " replica"),
                                     HasSubstr(std::to_string(after) + " after")));
  }
}

// So many series that of no single one could a change be called.
TEST(Compare, SaysWhenSoFewReplicasCannotSingleOutOneOfSoManySeries) {
  for (const auto& [replicas, series_count, within_reach] :
       {std::tuple{8, 320, true}, {8, 322, false}, {8, 400, false}, {9, 400, true}}) {
    Night a("a"), b("b");
    for (int i = 0; i < series_count; ++i) {
      const std::string name = "v" + std::to_string(i);
      add_replicas(a, name, 1000, {}, replicas);
      add_replicas(b, name, i == 7 ? 2000 : 1000, {}, replicas);
    }
    const Comparison comparison = compare(a, b, {});
    const SeriesComparison& first = comparison.series.front();
    EXPECT_EQ(first.id.variant, "v7");
    EXPECT_EQ(first.out_of_reach, !within_reach);
    EXPECT_EQ(first.verdict, within_reach ? Verdict::slower : Verdict::ambiguous);
    EXPECT_EQ(comparison.regressed(), within_reach);
    EXPECT_EQ(comparison.decided(), within_reach);  // though all others are the same
    if (within_reach) continue;
    EXPECT_THAT(first.reason, HasSubstr("8 replicas before and 8 after cannot single out one of " +
                                        std::to_string(series_count) + " series; take 9 a side"));
    // It is looked at again, and then there are enough.
    EXPECT_EQ(to_confirm(comparison).size(), 1U);
  }
}

TEST(Compare, IsAmbiguousWhereCloseMediansOfNoisySidesAreLuck) {
  Night a("a"), b("b");
  for (int i = 0; i < 10; ++i) {
    a.add(record_of("v", i, 1000 * std::pow(1.06, i - 4.5)));
    b.add(record_of("v", i, 1004 * std::pow(1.06, i - 4.5)));
  }
  const SeriesComparison series = only(a, b);
  EXPECT_LT(*series.size, 0.005);
  EXPECT_GT(series.interval->high, 1.1);
  EXPECT_EQ(series.verdict, Verdict::ambiguous);
  EXPECT_THAT(series.reason, HasSubstr("too noisy to see less than"));
  EXPECT_EQ(to_confirm(compare(a, b, {})).size(), 1U);
  // A floor of which half the interval is narrow settles it.
  EXPECT_EQ(only(a, b, {.floor = 0.5}).verdict, Verdict::same);
}

TEST(Compare, IsAmbiguousWhereOneSideStraysAsFarByItself) {
  Night a("a"), b("b");
  for (int i = 0; i < 10; ++i) {
    a.add(record_of("v", i, i % 2 == 0 ? 1000 + i : 1050 + i));
    b.add(record_of("v", i, 1060 + i));  // above every one of the others, and yet
  }
  const SeriesComparison series = only(a, b);
  EXPECT_LT(*series.p, 0.002);
  EXPECT_GT(*series.spread, 0.04);
  EXPECT_EQ(series.verdict, Verdict::ambiguous);
  EXPECT_THAT(series.reason, HasSubstr("two halves of one side differ"));
}

TEST(Compare, CallsTheLessTheMoreSeriesThereAre) {
  // Alone, p = .0015 is enough; among 200 without a change it is not.
  const auto with_one_high = [](Night& night, const std::string& name, double median, bool high) {
    for (int i = 0; i < 10; ++i) {
      night.add(record_of(name, i, high && i == 9 ? 1100 : median + 0.1 * i));
    }
  };
  Night a("a"), b("b");
  with_one_high(a, "v", 1000, true);
  with_one_high(b, "v", 1020, false);
  const SeriesComparison alone = only(a, b);
  EXPECT_EQ(alone.verdict, Verdict::slower);
  EXPECT_LT(*alone.p, 0.002);
  for (int i = 0; i < 200; ++i) {
    add_replicas(a, "w" + std::to_string(i), 500);
    add_replicas(b, "w" + std::to_string(i), 500);
  }
  const SeriesComparison among = compare(a, b, {}).series.front();
  EXPECT_EQ(among.id.variant, "v");
  EXPECT_EQ(*among.p, *alone.p);
  EXPECT_EQ(among.verdict, Verdict::ambiguous);
  EXPECT_THAT(among.reason, HasSubstr("all series"));
}

TEST(Compare, ComparesNothingAcrossConditionsAndSaysWhich) {
  for (const auto& [what, change] : std::vector<std::pair<std::string, Change>>{
           {"device 'GPU' and 'other'", [](Record& r) { r.device_name = "other"; }},
           {"driver '1' and 'other'", [](Record& r) { r.driver = "other"; }},
           {"toolkit '2' and 'other'", [](Record& r) { r.toolkit = "other"; }},
           {"clock policy 'default' and 'other'", [](Record& r) { r.clock_policy = "other"; }},
           {"precision 'float32' and 'tf32'", [](Record& r) { r.precision = Precision::tf32; }}}) {
    const SeriesComparison series = changed(2.0, {}, change);
    EXPECT_EQ(series.verdict, Verdict::not_comparable) << what;
    EXPECT_EQ(series.reason, what);
    const Change of_some = [&](Record& r) {
      if (r.replica > 4) change(r);
    };
    EXPECT_EQ(changed(2.0, of_some, {}).verdict, Verdict::not_comparable) << what;
    EXPECT_THAT(changed(2.0, of_some, {}).reason, HasSubstr("before has " + what));
  }
}

TEST(Compare, NeverLooksAtTheMeasuredClockTheSeedOrTheCommit) {
  EXPECT_EQ(changed(1.0, {},
                    [](Record& r) {
                      r.sm_clock_mhz = 1234;
                      r.seed = 5;
                      r.git_commit = "another";
                      r.temperature_c = 80;
                    })
                .verdict,
            Verdict::same);
}

TEST(Compare, AnotherProblemConfigurationOrDeviceIsAnotherSeries) {
  for (const Change& change : std::vector<Change>{[](Record& r) { r.problem = "n=2"; },
                                                  [](Record& r) { r.configuration = "b=1"; },
                                                  [](Record& r) { r.device = DeviceKind::cuda; },
                                                  [](Record& r) { r.operator_name = "op2"; }}) {
    Night a("a"), b("b");
    add_replicas(a, "v", 1000);
    add_replicas(b, "v", 1000, change);
    const Comparison comparison = compare(a, b, {});
    EXPECT_EQ(comparison.count(Verdict::gone), 1U);
    EXPECT_EQ(comparison.count(Verdict::added), 1U);
    EXPECT_FALSE(comparison.regressed());
    EXPECT_FALSE(comparison.decided());
  }
}

void fail(Record& record) {
  record.outcome = Outcome::wrong;
  record.reason = "3 elements wrong";
  record.median_ns.reset();
}

void fail_one(Record& record) {
  if (record.replica == 3) fail(record);
}

TEST(Compare, AWrongResultIsAFailureWhateverElse) {
  EXPECT_EQ(changed(1.0, {}, fail).verdict, Verdict::newly_wrong);
  EXPECT_EQ(changed(1.0, {}, fail).reason, "wrong: 3 elements wrong; in 10 of 10 replicas");
  EXPECT_EQ(changed(0.5, {}, fail_one).verdict, Verdict::newly_wrong);
  const auto elsewhere = [](Record& r) {
    r.driver = "other";
    fail_one(r);
  };
  EXPECT_EQ(changed(1.0, {}, elsewhere).verdict, Verdict::newly_wrong);
  Night a("a"), b("b");
  add_replicas(a, "v", 1000);
  add_replicas(b, "v", 1000);
  add_replicas(b, "new", 1000, fail_one);
  EXPECT_EQ(compare(a, b, {}).series.front().verdict, Verdict::newly_wrong);
  EXPECT_TRUE(compare(a, b, {}).regressed());
}

TEST(Compare, WhatWasWrongAlreadyIsNoNewFailureAndWhatWasMendedIsNew) {
  EXPECT_EQ(changed(1.0, fail, fail).verdict, Verdict::not_comparable);
  EXPECT_EQ(changed(1.0, fail, {}).verdict, Verdict::added);
  EXPECT_THAT(changed(1.0, fail, {}).reason, HasSubstr("it was wrong"));
}

// The first `count` replicas come to such an end.
Change end_of(int count, Outcome outcome) {
  return [=](Record& record) {
    if (record.replica >= count) return;
    record.outcome = outcome;
    record.reason = "a reason";
    record.median_ns.reset();
  };
}

TEST(Compare, AFlakyReplicaBeforeHidesNoFailure) {
  struct Known {
    Change before, after;
    bool newly_wrong;
  };
  const Known all_known[] = {
      {end_of(1, Outcome::timed_out), end_of(10, Outcome::wrong), true},
      {end_of(1, Outcome::timed_out), end_of(10, Outcome::timed_out), true},
      {end_of(9, Outcome::timed_out), end_of(10, Outcome::timed_out), true},
      {end_of(1, Outcome::crashed), end_of(6, Outcome::crashed), true},
      {end_of(1, Outcome::crashed), end_of(1, Outcome::wrong), true},  // wrong is worse, and new
      {end_of(10, Outcome::crashed), end_of(10, Outcome::wrong), true},
      {end_of(10, Outcome::wrong), end_of(10, Outcome::crashed), false},
      {end_of(10, Outcome::crashed), end_of(10, Outcome::failed), false},
      {end_of(1, Outcome::timed_out), end_of(1, Outcome::timed_out), false},
      {end_of(6, Outcome::timed_out), end_of(7, Outcome::timed_out), false}};
  for (const Known& known : all_known) {
    const SeriesComparison series = changed(1.0, known.before, known.after);
    EXPECT_EQ(series.verdict == Verdict::newly_wrong, known.newly_wrong) << series.reason;
    EXPECT_TRUE(series.failed);
  }
  EXPECT_EQ(changed(1.0, end_of(1, Outcome::timed_out), end_of(10, Outcome::wrong)).reason,
            "wrong: a reason; in 10 of 10 replicas, before in 1");
}

TEST(Compare, AFlakyReplicaHidesNoSlowdownAndIsTold) {
  const Change flaky = end_of(1, Outcome::timed_out);
  const SeriesComparison slower = changed(2.0, flaky);
  EXPECT_EQ(slower.verdict, Verdict::slower);
  EXPECT_EQ(slower.reason, "before in 1 of 10 replicas timed_out: a reason");
  const SeriesComparison in_both = changed(1.0, flaky, flaky);
  EXPECT_EQ(in_both.verdict, Verdict::same);
  EXPECT_THAT(in_both.reason, HasSubstr("; now in 1 of 10 replicas timed_out"));
  EXPECT_EQ(changed(2.0, end_of(3, Outcome::crashed)).verdict, Verdict::ambiguous);  // 7 are left
  EXPECT_EQ(changed(2.0, end_of(10, Outcome::crashed)).verdict, Verdict::added);
}

TEST(Compare, SaysThatSomeReplicasWereUnavailable) {
  const SeriesComparison now = changed(1.0, {}, end_of(2, Outcome::unavailable));
  EXPECT_EQ(now.verdict, Verdict::same);
  EXPECT_EQ(now.reason, "now in 2 of 10 replicas unavailable: a reason");
  const SeriesComparison before = changed(1.1, end_of(1, Outcome::unavailable));
  EXPECT_EQ(before.verdict, Verdict::slower);
  EXPECT_THAT(before.reason, HasSubstr("before in 1 of 10 replicas unavailable"));
}

TEST(Compare, ComparesNoSideThatMixesBuilds) {
  for (const auto& [change, words] :
       {std::pair<Change, std::string>{[](Record& r) { r.git_commit = r.replica < 5 ? "a" : "b"; },
                                       "before has commit 'a' and 'b'"},
        {[](Record& r) { r.dirty = r.replica > 8; }, "before has commit '' and ', modified'"}}) {
    const SeriesComparison series = changed(2.0, change);
    EXPECT_EQ(series.verdict, Verdict::not_comparable);
    EXPECT_EQ(series.reason, words);
  }
}

TEST(Compare, AnUnavailableSeriesIsGoneNewOrNotThere) {
  const auto unavailable = [](Record& r) {
    r.outcome = Outcome::unavailable;
    r.reason = "no GPU";
    r.median_ns.reset();
  };
  EXPECT_EQ(changed(1.0, {}, unavailable).verdict, Verdict::gone);
  EXPECT_THAT(changed(1.0, {}, unavailable).reason, HasSubstr("no GPU"));
  EXPECT_EQ(changed(1.0, unavailable, {}).verdict, Verdict::added);
  Night a("a"), b("b");
  add_replicas(a, "v", 1000, unavailable);
  add_replicas(b, "v", 1000, unavailable);
  EXPECT_TRUE(compare(a, b, {}).series.empty());
}

TEST(Compare, RecordsWithoutATimeHaveNoVerdictOnIt) {
  const auto untimed = [](Record& r) { r.median_ns.reset(); };
  EXPECT_EQ(changed(1.0, untimed, untimed).verdict, Verdict::not_comparable);
  EXPECT_EQ(changed(1.0, {}, untimed).verdict, Verdict::not_comparable);
}

TEST(Compare, SortsByHarm) {
  Night a("a"), b("b");
  for (const auto& [name, ratio] : {std::pair{"much slower", 1.5},
                                    {"slower", 1.1},
                                    {"same", 1.0},
                                    {"faster", 0.9},
                                    {"broken", 0.0},
                                    {"gone", 0.0},
                                    {"few", 0.0},
                                    {"elsewhere", 0.0}}) {
    const std::string variant = name;
    add_replicas(a, variant, 1000);
    if (ratio > 0) add_replicas(b, variant, 1000 * ratio);
    if (variant == "broken") add_replicas(b, variant, 1000, fail);
    if (variant == "few") add_replicas(b, variant, 1000, {}, 3);
    if (variant == "elsewhere") {
      add_replicas(b, variant, 1000, [](Record& r) { r.driver = "other"; });
    }
  }
  add_replicas(b, "new", 1000);
  std::vector<std::string> order;
  for (const SeriesComparison& s : compare(a, b, {}).series) order.push_back(s.id.variant);
  EXPECT_THAT(order, testing::ElementsAre("broken", "much slower", "slower", "gone", "few",
                                          "elsewhere", "new", "same", "faster"));
}

void as_control(Record& record) { record.operator_name = control_operator; }

TEST(Compare, DoesNotCallAChangeThatTheControlsMadeToo) {
  Night a("a"), b("b");
  add_replicas(a, "copy", 100, as_control);
  add_replicas(b, "copy", 103, as_control);
  add_replicas(a, "as slow as the night", 1000);
  add_replicas(b, "as slow as the night", 1029);
  // The machine's 3% and a scatter that no control shows.
  add_replicas(a, "a little slower than the night", 1000);
  add_replicas(b, "a little slower than the night", 1034);
  add_replicas(a, "slower than that", 1000);
  add_replicas(b, "slower than that", 1100);
  add_replicas(a, "of another problem", 1000, [](Record& r) { r.problem = "n=2"; });
  add_replicas(b, "of another problem", 1029, [](Record& r) { r.problem = "n=2"; });
  add_replicas(a, "faster all the same", 1000);
  add_replicas(b, "faster all the same", 980);
  const Comparison comparison = compare(a, b, {});
  ASSERT_EQ(comparison.controls.size(), 1U);
  EXPECT_EQ(comparison.controls[0].verdict, Verdict::slower);
  std::map<std::string, SeriesComparison> by_name;
  for (const SeriesComparison& s : comparison.series) by_name[s.id.variant] = s;
  EXPECT_EQ(by_name.size(), 5U);  // a control is no series of its own
  EXPECT_EQ(by_name["as slow as the night"].verdict, Verdict::ambiguous);
  EXPECT_THAT(by_name["as slow as the night"].reason,
              HasSubstr("copy became 3.00% slower too, which leaves nothing"));
  EXPECT_EQ(by_name["a little slower than the night"].verdict, Verdict::ambiguous);
  EXPECT_THAT(by_name["a little slower than the night"].reason, HasSubstr("leaves 0.39%"));
  EXPECT_EQ(by_name["slower than that"].verdict, Verdict::slower);
  EXPECT_EQ(by_name["of another problem"].verdict, Verdict::slower);
  EXPECT_EQ(by_name["faster all the same"].verdict, Verdict::faster);
}

TEST(Compare, TakesOffWhatAControlMovedByEvenWhereThatIsTooLittleToCall) {
  for (const auto& [control, series, verdict] : {std::tuple{1.004, 1.006, Verdict::ambiguous},
                                                 {1.004, 1.0095, Verdict::slower},
                                                 {1 / 1.004, 1 / 1.006, Verdict::ambiguous},
                                                 {1 / 1.004, 1.006, Verdict::slower}}) {
    Night a("a"), b("b");
    add_replicas(a, "copy", 100, as_control);
    add_replicas(b, "copy", 100 * control, as_control);
    add_replicas(a, "v", 1000);
    add_replicas(b, "v", 1000 * series);
    const Comparison comparison = compare(a, b, {});
    EXPECT_EQ(comparison.controls.at(0).verdict, Verdict::same);
    EXPECT_EQ(comparison.series.at(0).verdict, verdict) << control << " " << series;
  }
}

TEST(Compare, AControlThatDriftsIsNoRegression) {
  Night a("a"), b("b");
  add_replicas(a, "copy", 100, as_control);
  add_replicas(b, "copy", 103, as_control);
  add_replicas(a, "v", 1000);
  add_replicas(b, "v", 1000);
  EXPECT_FALSE(compare(a, b, {}).regressed());
  EXPECT_TRUE(compare(a, b, {}).decided());
}

TEST(Night, RefusesTheSameReplicaTwiceAndATimeOfZero) {
  Night night("old.csv");
  night.add(record_of("v", 0, 1));
  night.add(record_of("v", 1, 1));
  Record of_another_run = record_of("v", 0, 1);
  of_another_run.run_id = "another";
  night.add(of_another_run);
  EXPECT_THAT([&] { night.add(record_of("v", 1, 1)); },
              ThrowsMessage<Error>(AllOf(HasSubstr("old.csv"), HasSubstr("replica 1"),
                                         HasSubstr("op v default n=1 cpu"))));
  EXPECT_THAT([&] { night.add(record_of("v", 7, 0)); },
              ThrowsMessage<Error>(AllOf(HasSubstr("old.csv"), HasSubstr("median_ns of 0"))));
}

struct Rounds {
  Builds first{Night("a"), Night("b")}, fresh{Night("a"), Night("b")};

  // So many times slower in the first processes, and in the fresh ones, in which the machine has moved.
  Rounds(double at_first, double afterwards, int count = 10, double moved = 1.0,
         const Change& change = {}) {
    add_replicas(first.before, "v", 1000, {}, count);
    add_replicas(first.after, "v", 1000 * at_first, {}, count);
    const Change later = [&](Record& r) {
      r.run_id = "fresh";
      if (change) change(r);
    };
    add_replicas(fresh.before, "v", 1000 * moved, later);
    add_replicas(fresh.after, "v", 1000 * moved * afterwards, later);
  }
  [[nodiscard]] SeriesComparison verdict() const {
    return compare_confirmed(first, fresh, {}).series.at(0);
  }
};

TEST(CompareConfirmed, CallsOnlyWhatFreshProcessesShowByThemselves) {
  const SeriesComparison confirmed = Rounds(1.02, 1.021).verdict();
  EXPECT_EQ(confirmed.verdict, Verdict::slower);
  EXPECT_EQ(confirmed.new_replicas, 20U);
  EXPECT_THAT(confirmed.reason, HasSubstr("confirmed: a ratio of 1.0210 in 10 fresh"));
  EXPECT_EQ(Rounds(0.98, 0.98).verdict().verdict, Verdict::faster);

  // Of all replicas together each of these is slower: the first are many. "Not confirmed" tells that they were.
  const auto not_confirmed = AllOf(testing::StartsWith("not confirmed"), HasSubstr("in 10 fresh"));
  const Rounds below_the_floor(1.011, 1.0049, 40), turned(1.02, 0.99, 40);
  const Change uncertain = [](Record& r) { *r.median_ns *= 1 + 0.02 * (r.replica % 5 - 2); };
  const Rounds by_chance(1.02, 1.006, 40, 1.0, uncertain);
  for (const Rounds* rounds : {&below_the_floor, &turned, &by_chance}) {
    EXPECT_EQ(rounds->verdict().verdict, Verdict::ambiguous);
    EXPECT_THAT(rounds->verdict().reason, not_confirmed);
  }
}

TEST(CompareConfirmed, HidesNothingWhenTheMachineMovedInBetween) {
  for (const double moved : {0.5, 0.98, 0.99, 1.01, 1.02, 2.0}) {
    const SeriesComparison series = Rounds(1.01, 1.01, 10, moved).verdict();
    EXPECT_EQ(series.verdict, Verdict::slower) << moved << ": " << series.reason;
    EXPECT_NEAR(*series.ratio, 1.01, 1e-4);
    EXPECT_NEAR(*series.old_median_ns, 1000, 0.5);  // of the first phase
    EXPECT_NE(Rounds(1.0, 1.0, 10, moved).verdict().verdict, Verdict::slower);
  }
}

TEST(CompareConfirmed, PoolsWhatBothPhasesHaveAndRefusesAProcessTwice) {
  Builds first{Night("a"), Night("b")}, fresh{Night("a"), Night("b")};
  add_replicas(first.before, "v", 1000, end_of(2, Outcome::crashed));
  add_replicas(first.after, "v", 1000);
  const Change later = [](Record& r) { r.run_id = "fresh"; };
  add_replicas(fresh.before, "v", 1000, later);
  add_replicas(fresh.after, "v", 1000, [](Record& r) {
    r.run_id = "fresh";
    end_of(3, Outcome::unavailable)(r);
  });
  add_replicas(fresh.after, "only fresh", 1000, later);
  const Builds all = pooled(first, fresh);
  const Replicas& before = all.before.series().begin()->second;
  EXPECT_EQ(before.medians_ns.size(), 18U);
  EXPECT_EQ(before.failures.at(Outcome::crashed).count, 2U);
  EXPECT_EQ(all.after.series().size(), 2U);
  const SeriesComparison series = compare_confirmed(first, fresh, {}).series.back();
  EXPECT_THAT(series.reason, HasSubstr("now in 3 of 20 replicas unavailable"));
  EXPECT_THROW((void)pooled(first, first), Error);
}

TEST(CompareConfirmed, LooksAgainAtWhatIsCalledOrUncertainButNotAtTooFewReplicas) {
  Night a("a"), b("b");
  for (const char* name : {"same", "slower", "faster", "few", "strays"}) {
    const std::string variant = name;
    const double ratio = variant == "slower" ? 1.1 : (variant == "faster" ? 0.9 : 1.0);
    add_replicas(a, variant, 1000);
    if (variant == "strays") {
      for (int i = 0; i < 10; ++i) b.add(record_of(variant, i, i < 5 ? 1000 : 1100));
    } else {
      add_replicas(b, variant, 1000 * ratio, {}, variant == "few" ? 3 : 10);
    }
  }
  std::vector<std::string> names;
  for (const SeriesId& id : to_confirm(compare(a, b, {}))) names.push_back(id.variant);
  EXPECT_THAT(names, testing::UnorderedElementsAre("slower", "faster", "strays"));
}

}  // namespace
}  // namespace fusebench
