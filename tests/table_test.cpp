// The printed table. Catches rows out of order, a mark on the wrong row, a time shown for a result that is
// wrong, a speed-up over the wrong baseline, a peer that ranks, and what is unavailable or went wrong in one
// configuration of many lost from sight.
#include "harness/cli/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <sstream>

#include "harness/measure/ceilings.hpp"

namespace fusebench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Record passed(const std::string& variant, double median_ns,
              Precision precision = Precision::float32, bool within = true) {
  Record r;
  r.operator_name = "op";
  r.variant = variant;
  r.configuration = "default";
  r.problem = "n=1";
  r.precision = precision;
  r.device_name = "a CPU";
  r.outcome = Outcome::passed;
  r.samples = 30;
  r.median_ns = median_ns;
  r.q1_ns = 0.99 * median_ns;
  r.q3_ns = 1.01 * median_ns;
  r.throughput_gbps = 1e6 / median_ns;
  r.max_abs_error = 1e-7;
  r.within_1e4 = within;
  r.bit_equal_percent = 100;
  return r;
}

Record without_time(const std::string& variant, Outcome outcome, const std::string& reason) {
  Record r = passed(variant, 1);
  clear_times(r);
  r.outcome = outcome;
  r.reason = reason;
  return r;
}

Record control(const std::string& name, double median_ns) {
  Record r = passed(name, median_ns);
  r.operator_name = control_operator;
  return r;
}

std::string table(const std::vector<Record>& records,
                  const std::vector<std::string>& baselines = {}, double peak_gbps = 0) {
  return result_table(records, {.baselines = baselines,
                                .devices = {{DeviceKind::cpu, {.peak_gbps = peak_gbps}}},
                                .every = true});
}

std::string table_of_best(const std::vector<Record>& records,
                          const std::vector<Record>& peers = {}) {
  return result_table(records, {.peers = peers});
}

Record configured(Record record, const std::string& configuration) {
  record.configuration = configuration;
  return record;
}

// Lines that begin with one of the given names, cut down to that name.
std::vector<std::string> order_of(const std::string& text, const std::vector<std::string>& names) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    for (const std::string& name : names) {
      if (line.starts_with(name + " ")) found.push_back(name);
    }
  }
  return found;
}

std::string line_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + " ")) return line;
  }
  ADD_FAILURE() << "no line for " << name << " in\n" << text;
  return "";
}

std::string last_word(const std::string& line) { return line.substr(line.rfind(' ') + 1); }

std::string marks_of(const std::string& line) {
  const std::string word = last_word(line);
  return word.find_first_not_of("*+") == std::string::npos ? word : "";
}

TEST(ResultTable, SortsWhatPassedByTimeThenTheRestThenTheControls) {
  const std::string text = table({control("copy", 10), passed("slow", 300), passed("fast", 100),
                                  without_time("bad", Outcome::wrong, "x"), passed("middle", 200)});
  EXPECT_THAT(order_of(text, {"copy", "slow", "fast", "bad", "middle"}),
              ElementsAre("fast", "middle", "slow", "bad", "copy"));
}

TEST(ResultTable, MarksTheFastestWithin1e4AndTheBestOfEachPrecision) {
  const std::string text =
      table({passed("a", 100, Precision::fp16, false), passed("b", 200, Precision::float32),
             passed("c", 300, Precision::exact_order), passed("d", 400, Precision::exact_order),
             control("copy", 10)});
  EXPECT_EQ(last_word(line_of(text, "a")), "+");
  EXPECT_EQ(last_word(line_of(text, "b")), "*+");
  EXPECT_EQ(last_word(line_of(text, "c")), "+");
  EXPECT_EQ(marks_of(line_of(text, "d")), "");
  EXPECT_EQ(marks_of(line_of(text, "copy")), "");
  EXPECT_THAT(text, HasSubstr("* fastest within 1e-4"));
}

TEST(ResultTable, SaysWhatIsInPlaceAndRanksItWithNoOther) {
  Record fastest = passed("overwrites", 50);
  fastest.in_place = true;
  const std::string text = table_of_best({passed("keeps", 100), fastest});
  EXPECT_THAT(order_of(text, {"keeps", "overwrites"}), ElementsAre("overwrites", "keeps"));
  EXPECT_THAT(line_of(text, "overwrites"), HasSubstr(" passed in place "));
  EXPECT_EQ(marks_of(line_of(text, "overwrites")), "");
  EXPECT_EQ(last_word(line_of(text, "keeps")), "*+");
  EXPECT_THAT(text, HasSubstr("in place: the output overwrites the first input"));
  EXPECT_THAT(table_of_best({passed("keeps", 100)}), Not(HasSubstr("in place")));
}

TEST(ResultTable, CountsTheSpeedUpOfWhatIsInPlaceFromTheSameBaseline) {
  Record in_place = passed("overwrites", 50);
  in_place.in_place = true;
  EXPECT_THAT(line_of(table({passed("unfused", 200), in_place}, {"unfused"}), "overwrites"),
              HasSubstr("4.00x"));
}

TEST(ResultTable, MarksOneRowAlthoughAnotherIsAsFast) {
  const std::string text = table({passed("a", 100), passed("b", 100)});
  EXPECT_EQ(last_word(line_of(text, "a")), "*+");
  EXPECT_EQ(marks_of(line_of(text, "b")), "");
}

TEST(ResultTable, ShowsNoTimeNoMarkAndItsReasonForAResultThatIsWrong) {
  Record wrong = without_time("bad", Outcome::wrong, "7 of 9 elements wrong");
  const std::string text = table({wrong, passed("good", 100)});
  EXPECT_THAT(line_of(text, "bad"), AllOf(HasSubstr("wrong"), Not(HasSubstr(" ns")),
                                          Not(HasSubstr("*")), Not(HasSubstr("+"))));
  EXPECT_THAT(text, HasSubstr("bad wrong: 7 of 9 elements wrong"));
}

// Such times are cleared where they are measured; the table must not depend on it.
TEST(ResultTable, ShowsNoTimeForAWrongResultEvenWhenItsRecordHoldsOne) {
  Record wrong = passed("bad", 1);
  wrong.outcome = Outcome::wrong;
  const std::string text = table({wrong, passed("good", 100)}, {"bad"});
  EXPECT_THAT(line_of(text, "bad"), Not(HasSubstr(" ns")));
  EXPECT_THAT(line_of(text, "good"), Not(HasSubstr("0.01x")));
  EXPECT_EQ(last_word(line_of(text, "good")), "*+");
}

TEST(ResultTable, CountsSpeedUpsFromTheFastestConfigurationOfTheBaseline) {
  Record other = passed("unfused", 400);
  other.configuration = "block=512";
  const std::string text =
      table({passed("unfused", 500), other, passed("fused", 100)}, {"unfused"});
  EXPECT_THAT(line_of(text, "fused"), HasSubstr("4.00x"));
  EXPECT_THAT(line_of(text, "unfused default"), HasSubstr("0.80x"));
  EXPECT_THAT(line_of(text, "unfused block=512"), HasSubstr("1.00x"));
}

TEST(ResultTable, ShowsTheConfigurationOnlyWhereItTellsRowsApart) {
  Record one = passed("twice", 100);
  one.configuration = "block=128";
  Record other = passed("twice", 200);
  other.configuration = "block=256";
  const std::string text = table({one, other, passed("once", 300)});
  EXPECT_THAT(order_of(text, {"twice block=128", "twice block=256"}),
              ElementsAre("twice block=128", "twice block=256"));
  EXPECT_THAT(line_of(text, "once"), Not(HasSubstr("default")));
}

TEST(ResultTable, GivesTheShareOfTheDataSheetsPeakOnlyWhereItIsKnown) {
  EXPECT_THAT(line_of(table({passed("a", 1000)}, {}, 4000), "a"), HasSubstr(" 25.0 "));
  EXPECT_THAT(line_of(table({passed("a", 1000)}, {}, 0), "a"), Not(HasSubstr(" 25.0 ")));
}

TEST(ResultTable, NeverRoundsBitEqualUpToAll) {
  Record r = passed("a", 100);
  r.bit_equal_percent = 99.99999;
  EXPECT_THAT(line_of(table({r}), "a"), HasSubstr("<100"));
  r.bit_equal_percent = 100;
  EXPECT_THAT(line_of(table({r}), "a"), AllOf(HasSubstr("100.00"), Not(HasSubstr("<100"))));
}

TEST(ResultTable, GroupsWhatIsUnavailableByReason) {
  const std::string text =
      table({without_time("u2", Outcome::unavailable, "no driver"), passed("a", 100),
             without_time("u1", Outcome::unavailable, "no driver"),
             without_time("u3", Outcome::unavailable, "needs sm_90")});
  EXPECT_THAT(text, AllOf(HasSubstr("unavailable (no driver): u1, u2\n"),
                          HasSubstr("unavailable (needs sm_90): u3\n")));
  EXPECT_TRUE(order_of(text, {"u1", "u2", "u3"}).empty());
}

TEST(ResultTable, HasOneTableForEachProblemWithTheControlsOfThatProblem) {
  Record elsewhere = passed("b", 200);
  elsewhere.problem = "n=2";
  Record its_control = control("fill", 10);
  its_control.problem = "n=2";
  const std::string text = table({control("copy", 10), passed("a", 100), its_control, elsewhere});
  EXPECT_THAT(text, AllOf(HasSubstr("op on a CPU, n=1\n"), HasSubstr("op on a CPU, n=2\n")));
  EXPECT_THAT(order_of(text, {"a", "b", "copy", "fill"}), ElementsAre("a", "copy", "b", "fill"));
  EXPECT_EQ(last_word(line_of(text, "b")), "*+");
}

TEST(ResultTable, TellsTheComputeCeilingByTheFastestFmaAndNoBandwidthOfIt) {
  EXPECT_THAT(table({control("copy", 10), passed("a", 100)}), Not(HasSubstr("compute ceiling")));
  Record slow = control("fma", 2000);
  slow.flops = 100'000'000;
  slow.throughput_gbps = 123.4;
  Record fast = slow;
  fast.median_ns = 1000;
  fast.replica = 1;
  const std::string text = table({slow, fast, passed("a", 100)});
  EXPECT_THAT(text, HasSubstr("  compute ceiling, by control fma: 100 TFLOP/s in float32\n"));
  EXPECT_THAT(line_of(text, "fma"), Not(HasSubstr("123.4")));
  slow.flops = 100'000;
  EXPECT_THAT(table({slow, passed("a", 100)}), HasSubstr("control fma: 50 GFLOP/s in float32\n"));
}

TEST(ResultTable, ShowsEachVariantsFastestConfigurationAndHowManyThereWere) {
  const std::string text =
      table_of_best({configured(passed("a", 300), "k=1"), configured(passed("a", 100), "k=2"),
                     configured(passed("a", 200), "k=3"), passed("b", 150)});
  EXPECT_THAT(order_of(text, {"a", "b"}), ElementsAre("a", "b"));
  EXPECT_THAT(line_of(text, "a"), AllOf(HasSubstr("a k=2 (best of 3) "), HasSubstr("100 ns")));
  EXPECT_THAT(line_of(text, "b"), Not(HasSubstr("(best of")));
}

TEST(ResultTable, TellsWhatWentWrongInSomeOfManyConfigurationsOnce) {
  const std::string text =
      table_of_best({configured(without_time("a", Outcome::wrong, "x"), "k=1"),
                     configured(passed("a", 100), "k=2"),
                     configured(without_time("a", Outcome::wrong, "y"), "k=3"),
                     configured(without_time("a", Outcome::crashed, "z"), "k=4")});
  EXPECT_THAT(line_of(text, "a"), HasSubstr("a k=2 (best of 4, 1 passed) "));
  EXPECT_THAT(text, HasSubstr("\n  a wrong in 2 of 4 configurations, first k=1: x\n"));
  EXPECT_THAT(text, HasSubstr("\n  a k=4 crashed: z\n"));
  EXPECT_THAT(text, Not(HasSubstr(": y")));
}

TEST(ResultTable, ShowsOneRowForAVariantOfWhichNothingHasATime) {
  Record verified = passed("a", 1);
  clear_times(verified);
  const std::string all = table_of_best({configured(verified, "k=1"), configured(verified, "k=2")});
  EXPECT_THAT(line_of(all, "a"), HasSubstr("a (2 of 2 passed)  passed "));
  const std::string some = table_of_best(
      {configured(verified, "k=1"), configured(without_time("a", Outcome::wrong, "x"), "k=2")});
  EXPECT_THAT(line_of(some, "a"), HasSubstr("a (1 of 2 passed)  wrong "));
}

TEST(ResultTable, KeepsTheMarkedRowOfAVariantWhoseFastestIsNotWithin1e4) {
  const std::string text =
      table_of_best({configured(passed("a", 100, Precision::tf32, false), "k=1"),
                     configured(passed("a", 200, Precision::tf32, true), "k=2"),
                     configured(passed("a", 300, Precision::tf32, true), "k=3")});
  EXPECT_THAT(
      text, AllOf(HasSubstr("a k=1 (best of 3) "), HasSubstr("a k=2 "), Not(HasSubstr("a k=3 "))));
  EXPECT_EQ(last_word(line_of(text, "a k=2")), "*");
}

TEST(ResultTable, ShowsPeersByTimeAndNeverRanksThem) {
  const std::string text =
      table_of_best({passed("fast", 100), passed("slow", 300), control("copy", 50)},
                    {passed("peer_slower", 400), passed("peer_fastest", 90)});
  EXPECT_THAT(order_of(text, {"fast", "slow", "peer_slower", "peer_fastest", "copy"}),
              ElementsAre("peer_fastest", "fast", "slow", "peer_slower", "copy"));
  EXPECT_THAT(line_of(text, "peer_fastest"), HasSubstr("  peer  "));
  EXPECT_EQ(marks_of(line_of(text, "peer_fastest")), "");
  EXPECT_EQ(last_word(line_of(text, "fast")), "*+");
  EXPECT_THAT(text, HasSubstr("peers measured apart from this run: a CPU"));
}

TEST(ResultTable, ShowsOnlyPeersOfTheSameOperatorProblemAndDevice) {
  Record other_problem = passed("p1", 10);
  other_problem.problem = "n=2";
  Record other_operator = passed("p2", 10);
  other_operator.operator_name = "another";
  Record other_device = passed("p3", 10);
  other_device.device = DeviceKind::cuda;
  const std::string text = table_of_best(
      {passed("a", 100)},
      {other_problem, other_operator, other_device, control("copy", 10), passed("p4", 400)});
  EXPECT_THAT(order_of(text, {"a", "p1", "p2", "p3", "copy", "p4"}), ElementsAre("a", "p4"));
}

TEST(ResultTable, ShowsNoTimeForAPeerThatFailedAndSaysWhy) {
  const std::string text = table_of_best(
      {passed("a", 100)}, {without_time("torch", Outcome::failed, "no compiler"), passed("p", 9)});
  EXPECT_THAT(line_of(text, "torch"), AllOf(HasSubstr("peer failed"), Not(HasSubstr(" ns"))));
  EXPECT_THAT(text, HasSubstr("  torch (peer) failed: no compiler\n"));
}

TEST(ResultTable, DoesNotTakeAPeerForAConfigurationOfAVariantOfTheSameName) {
  const std::string text = table_of_best({passed("a", 100)}, {passed("a", 90)});
  EXPECT_THAT(order_of(text, {"a"}), ElementsAre("a", "a"));
  EXPECT_THAT(text, Not(HasSubstr("(best of")));
}

TEST(ResultTable, HasNoSpreadOfFewerThanFiveSamples) {
  for (const std::int64_t samples : {1, 4, 5, 30}) {
    Record r = passed("a", 100);
    r.samples = samples;
    const std::string text = table({r, passed("b", 200)});
    EXPECT_EQ(line_of(text, "a").find("2.0%") != std::string::npos, samples >= 5) << samples;
    EXPECT_THAT(line_of(text, "b"), HasSubstr("2.0%"));
  }
}

TEST(ResultTable, SaysHowManyResultsTheTimeLeftWithFewSamples) {
  Record few = passed("a", 100);
  few.samples = 29;
  few.stop_reason = "max_seconds";
  Record many = passed("b", 100);
  many.stop_reason = "max_seconds";
  Record asked_for = few;
  asked_for.stop_reason = "max_samples";
  Record of_control = few;
  of_control.operator_name = control_operator;
  EXPECT_THAT(table({few, many, asked_for, of_control}),
              HasSubstr("\n1 result has fewer than 30 samples: raise --max-time\n"));
  EXPECT_THAT(table({few, few, many}), HasSubstr("\n2 results have fewer than 30 samples"));
  EXPECT_THAT(table({many, asked_for, of_control}), Not(HasSubstr("--max-time")));
}

TEST(ResultTable, SaysWhereTheCeilingComesOfTooFewSamples) {
  Record copy = control("copy", 100);
  for (const std::int64_t samples : {1, 4, 5}) {
    copy.samples = samples;
    EXPECT_EQ(table({passed("a", 100), copy})
                      .find("% of copy says little: a control has fewer than 5 samples\n") !=
                  std::string::npos,
              samples < 5)
        << samples;
  }
  Record fma = control("fma", 100);
  fma.samples = 1;
  EXPECT_THAT(table({passed("a", 100), fma}), Not(HasSubstr("says little")));
}

TEST(ResultTable, LeavesOutTheColumnsThatNoRowFills) {
  Record verified = passed("a", 1);
  clear_times(verified);
  const std::string text = table({verified, without_time("b", Outcome::wrong, "x")});
  for (const char* column : {"median", "spread", "GB/s", "% of copy", "% of peak", "speed-up"}) {
    EXPECT_THAT(text, Not(HasSubstr(column)));
  }
  EXPECT_THAT(text, AllOf(HasSubstr("outcome"), HasSubstr("max abs err")));
  EXPECT_THAT(table({verified, passed("b", 2)}), HasSubstr("median"));
}

TEST(ResultTable, OfNothingIsEmpty) { EXPECT_EQ(table({}), ""); }

TEST(IsRanked, MeansPassedTimedAndNoControl) {
  EXPECT_TRUE(is_ranked(passed("a", 1)));
  EXPECT_FALSE(is_ranked(control("copy", 1)));
  EXPECT_FALSE(is_ranked(without_time("a", Outcome::passed, "")));
  Record wrong = passed("a", 1);
  wrong.outcome = Outcome::wrong;
  EXPECT_FALSE(is_ranked(wrong));
}

TEST(FormatTime, ChoosesTheUnitByTheSize) {
  EXPECT_EQ(format_time(7), "7 ns");
  EXPECT_EQ(format_time(999), "999 ns");
  EXPECT_EQ(format_time(1000), "1.00 us");
  EXPECT_EQ(format_time(256500), "256.50 us");
  EXPECT_EQ(format_time(1234567), "1.2346 ms");
  EXPECT_EQ(format_time(2.5e9), "2.500 s");
}

TEST(AlignFilled, KeepsTheFirstColumnAndWhatSomeRowFillsWithItsAlignment) {
  const std::vector<std::vector<std::string>> rows = {
      {"a", "none", "some", "left"}, {"-", "-", "-", "x"}, {"-", "", "12", "long"}};
  constexpr std::array<std::size_t, 2> left = {0, 3};
  EXPECT_EQ(align_filled(rows, left), "a  some  left\n-     -  x\n-    12  long\n");
}

TEST(Align, PadsColumnsToTheirWidestAndLeavesNoBlanksAtTheEnd) {
  constexpr std::array<std::size_t, 1> left = {0};
  EXPECT_EQ(align({{"a", "b", ""}, {"long", "1234", "x"}}, left), "a        b\nlong  1234  x\n");
}

}  // namespace
}  // namespace fusebench
