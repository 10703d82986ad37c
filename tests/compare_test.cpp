// Verdicts on two nights. Catches a regression that is not called, a verdict on what does not compare, a wrong
// result that hides behind other conditions, a replica counted twice, and a slow machine taken for a slow kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  for (const int count : {1, 5, 7, 8}) {
    Night a("a"), b("b");
    add_replicas(a, "v", 1000);
    add_replicas(b, "v", 2000, {}, count);
    const SeriesComparison series = only(a, b);
    EXPECT_EQ(series.verdict, count < 8 ? Verdict::ambiguous : Verdict::slower) << count;
    if (count < 8) {
      EXPECT_THAT(series.reason, HasSubstr(std::to_string(count) + " after"));
      EXPECT_FALSE(series.adjusted_p.has_value());
    }
  }
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
  EXPECT_EQ(changed(1.0, {}, fail).reason, "wrong: 3 elements wrong");
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
  EXPECT_EQ(by_name.size(), 4U);  // a control is no series of its own
  EXPECT_EQ(by_name["as slow as the night"].verdict, Verdict::ambiguous);
  EXPECT_THAT(by_name["as slow as the night"].reason, HasSubstr("copy became 3.00% slower too"));
  EXPECT_EQ(by_name["slower than that"].verdict, Verdict::slower);
  EXPECT_EQ(by_name["of another problem"].verdict, Verdict::slower);
  EXPECT_EQ(by_name["faster all the same"].verdict, Verdict::faster);
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
  Night before{"a"}, after{"b"}, fresh_before{"a"}, fresh_after{"b"};
  void add(double first, double fresh) {
    add_replicas(before, "v", 1000);
    add_replicas(after, "v", 1000 * first);
    const Change later = [](Record& r) { r.run_id = "fresh"; };
    for (Night* night : {&before, &fresh_before}) add_replicas(*night, "v", 1000, later);
    for (Night* night : {&after, &fresh_after}) add_replicas(*night, "v", 1000 * fresh, later);
  }
  [[nodiscard]] SeriesComparison verdict() const {
    return compare_confirmed(before, after, fresh_before, fresh_after, {}).series.at(0);
  }
};

TEST(CompareConfirmed, CallsOnlyWhatFreshProcessesShowByThemselves) {
  Rounds confirmed;
  confirmed.add(1.02, 1.021);
  EXPECT_EQ(confirmed.verdict().verdict, Verdict::slower);
  EXPECT_EQ(confirmed.verdict().new_replicas, 20U);
  EXPECT_THAT(confirmed.verdict().reason, HasSubstr("confirmed: a ratio of 1.0210 in 10 fresh"));
  Rounds faster;
  faster.add(0.98, 0.98);
  EXPECT_EQ(faster.verdict().verdict, Verdict::faster);
  Rounds below_the_floor;
  below_the_floor.add(1.011, 1.0049);
  EXPECT_EQ(below_the_floor.verdict().verdict, Verdict::ambiguous);
  Rounds turned;
  turned.add(1.05, 0.99);
  EXPECT_NE(turned.verdict().verdict, Verdict::slower);
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
