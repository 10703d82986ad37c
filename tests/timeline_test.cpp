// Timelines made by hand. Catches overlapping kernels of which a viewer would drop one, nested calls torn
// apart, digits lost in a time, arrows without a kernel, names that break the JSON, records that have no time,
// and sums that count a moment twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "harness/trace/activity_records.hpp"
#include "harness/trace/call_sums.hpp"
#include "harness/trace/chrome_trace.hpp"
#include "harness/trace/host_recorder.hpp"
#include "harness/trace/lanes.hpp"
#include "harness/trace/variant_key.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

using nlohmann::json;
using testing::ElementsAre;

std::vector<std::size_t> lanes_of(const std::vector<TimeSpan>& spans, Nesting nesting) {
  return lay_out(spans, nesting).lane;
}

TEST(Lanes, WhatFollowsSharesALaneAndWhatOverlapsDoesNot) {
  const std::vector<TimeSpan> spans = {{0, 10}, {10, 20}, {15, 25}, {18, 19}, {25, 30}};
  EXPECT_THAT(lanes_of(spans, Nesting::none), ElementsAre(0, 0, 1, 2, 0));
}

TEST(Lanes, WhatIsWithinSharesALaneWhereThatIsAllowed) {
  const std::vector<TimeSpan> spans = {{0, 100}, {0, 100}, {10, 20}, {20, 100}, {50, 101}};
  EXPECT_THAT(lanes_of(spans, Nesting::allowed), ElementsAre(0, 0, 0, 0, 1));
}

TEST(Lanes, AnOverlapWithAnyOfTheOpenOnesSpills) {
  // [30, 60) is within [0, 100) but only partly within [20, 50), which is still open.
  const std::vector<TimeSpan> spans = {{0, 100}, {20, 50}, {30, 60}};
  EXPECT_THAT(lanes_of(spans, Nesting::allowed), ElementsAre(0, 0, 1));
}

TEST(Lanes, OrderIsByStartAndTheLongestFirst) {
  const std::vector<TimeSpan> spans = {{5, 6}, {0, 3}, {0, 9}, {5, 6}};
  EXPECT_THAT(lay_out(spans, Nesting::allowed).order, ElementsAre(2, 1, 0, 3));
}

TEST(Lanes, ASpanThatEndsBeforeItStartsCountsAsEmpty) {
  const std::vector<TimeSpan> spans = {{10, 4}, {10, 20}, {20, 20}};
  EXPECT_THAT(lanes_of(spans, Nesting::allowed), ElementsAre(0, 0, 0));
}

// Against the definition, pair by pair.
TEST(Lanes, OfAnySpansNoTwoOnALaneOverlapButByNesting) {
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 300; ++round) {
    std::vector<TimeSpan> spans(1 + random() % 30);
    for (TimeSpan& span : spans) {
      span.start_ns = random() % 50;
      span.end_ns = span.start_ns + random() % 20;
    }
    for (const Nesting nesting : {Nesting::none, Nesting::allowed}) {
      const std::vector<std::size_t> lanes = lanes_of(spans, nesting);
      for (std::size_t i = 0; i < spans.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
          const TimeSpan &a = spans[i], &b = spans[k];
          const bool overlap = std::max(a.start_ns, b.start_ns) < std::min(a.end_ns, b.end_ns);
          if (lanes[i] != lanes[k] || !overlap) continue;
          const bool a_holds_b = a.start_ns <= b.start_ns && b.end_ns <= a.end_ns;
          const bool b_holds_a = b.start_ns <= a.start_ns && a.end_ns <= b.end_ns;
          EXPECT_TRUE(nesting == Nesting::allowed && (a_holds_b || b_holds_a))
              << a.start_ns << ".." << a.end_ns << " and " << b.start_ns << ".." << b.end_ns;
        }
      }
    }
  }
}

TEST(Microseconds, HaveEveryDigitHoweverLarge) {
  EXPECT_EQ(microseconds(0, 0), "0.000");
  EXPECT_EQ(microseconds(1, 0), "0.001");
  EXPECT_EQ(microseconds(1'234'567, 0), "1234.567");
  EXPECT_EQ(microseconds(1'000'050, 1'000'000), "0.050");
  // 2^53 + 1 is no double.
  EXPECT_EQ(microseconds(9'007'199'254'740'993, 0), "9007199254740.993");
  EXPECT_EQ(microseconds(std::numeric_limits<std::uint64_t>::max(), 0), "18446744073709551.615");
  EXPECT_EQ(microseconds(5, 6), "0.000");
}

// Two variants. The first has two calls of a kernel and a memset, the second one call of two kernels that overlap.
Timeline two_variants() {
  Timeline timeline;
  timeline.process_name = "fusebench";
  timeline.process = 500;
  timeline.device_name = "Model";
  timeline.variants = {
      {"op", "cuda_a", "default", "n=1", DeviceKind::cuda, "op cuda_a default n=1 cuda"},
      {"op", "cuda_b", "x=1", "n=1", DeviceKind::cuda, "op cuda_b x=1 n=1 cuda"}};
  timeline.calls = {
      {0, true, 0, 900.0}, {0, false, 0, 410.0}, {0, false, 1, 390.0}, {1, false, 0, 5000.0}};
  timeline.spans = {
      {500, {1000, 9000}, "measure"}, {500, {1000, 9000}, "op cuda_a default n=1 cuda"},
      {500, {1100, 1200}, "call", 0}, {500, {1300, 1450}, "call", 1},
      {500, {1500, 1600}, "call", 2}, {500, {8000, 8100}, "call", 3}};
  timeline.api = {
      {500, {1110, 1190}, "cuLaunchKernel", 10, 0},   {500, {1310, 1340}, "cuLaunchKernel", 11, 1},
      {500, {1350, 1390}, "cuMemsetD8Async", 12, 1},  {500, {1510, 1590}, "cuLaunchKernel", 13, 2},
      {500, {8010, 8050}, "cuLaunchKernel", 14, 3},   {500, {8060, 8090}, "cuLaunchKernel", 15, 3},
      {501, {1320, 1380}, "cuModuleLoadData", 16, {}}};
  const auto kernel = [](std::uint32_t stream, TimeSpan when, std::uint32_t correlation,
                         std::size_t call) {
    return DeviceWork{
        WorkKind::kernel, 0, stream, when, "kernel", correlation, call, 0, 8, 256, 32, 1024};
  };
  timeline.work = {kernel(7, {2000, 2900}, 10, 0),
                   kernel(7, {3000, 3300}, 11, 1),
                   DeviceWork{WorkKind::memset, 0, 7, {3350, 3400}, "memset", 12, 1, 64},
                   kernel(7, {3500, 3890}, 13, 2),
                   kernel(7, {8200, 8600}, 14, 3),
                   kernel(7, {8500, 8900}, 15, 3)};
  return timeline;
}

std::vector<json> events_of(const json& document, const std::string& phase) {
  std::vector<json> found;
  for (const json& event : document.at("traceEvents")) {
    if (event.at("ph") == phase) found.push_back(event);
  }
  return found;
}

TEST(ChromeTrace, IsJsonInOrderOfTimeFromZero) {
  const json document = json::parse(chrome_trace(two_variants()));
  double last = 0.0;
  for (const json& event : events_of(document, "X")) {
    EXPECT_GE(event.at("ts").get<double>(), last);
    last = event.at("ts").get<double>();
  }
  EXPECT_EQ(events_of(document, "X").front().at("ts").get<double>(), 0.0);
  EXPECT_EQ(events_of(document, "X").size(), 6U + 7U + 6U);
  EXPECT_EQ(document.at("otherData").at("dropped_records"), 0);
}

TEST(ChromeTrace, OverlappingKernelsHaveLanesAndNestedRangesHaveOne) {
  const json document = json::parse(chrome_trace(two_variants()));
  std::map<std::string, std::string> names;  // of each lane
  for (const json& event : events_of(document, "M")) {
    if (event.at("name") != "thread_name") continue;
    names[event.at("pid").dump() + " " + event.at("tid").dump()] = event.at("args").at("name");
  }
  std::map<std::string, int> slices;
  for (const json& event : events_of(document, "X")) {
    ++slices[names.at(event.at("pid").dump() + " " + event.at("tid").dump())];
  }
  const std::map<std::string, int> expected = {
      {"main thread", 12}, {"thread 501", 1}, {"stream 7", 5}, {"stream 7 (2)", 1}};
  EXPECT_EQ(slices, expected);
}

TEST(ChromeTrace, EveryLaneAndProcessIsNamedAndSorted) {
  const json document = json::parse(chrome_trace(two_variants()));
  std::map<std::string, int> counts;
  for (const json& event : events_of(document, "M")) ++counts[event.at("name")];
  const std::map<std::string, int> expected = {
      {"process_name", 2}, {"process_sort_index", 2}, {"thread_name", 4}, {"thread_sort_index", 4}};
  EXPECT_EQ(counts, expected);
}

TEST(ChromeTrace, AFlowLeadsFromEachLaunchToItsKernel) {
  const json document = json::parse(chrome_trace(two_variants()));
  const std::vector<json> from = events_of(document, "s");
  const std::vector<json> to = events_of(document, "f");
  ASSERT_EQ(from.size(), 6U);  // not of the API call that started nothing
  ASSERT_EQ(to.size(), 6U);
  for (const json& end : to) {
    EXPECT_EQ(end.at("bp"), "e");
    const auto begin = std::find_if(from.begin(), from.end(),
                                    [&](const json& one) { return one.at("id") == end.at("id"); });
    ASSERT_NE(begin, from.end());
    EXPECT_LT(begin->at("ts").get<double>(), end.at("ts").get<double>());
    EXPECT_NE(begin->at("pid"), end.at("pid"));
  }
}

TEST(ChromeTrace, OfALaunchOfManyKernelsTheFirstHasTheFlowAndWorkOfNoCallHasNone) {
  Timeline timeline = two_variants();
  timeline.work.push_back({WorkKind::kernel, 0, 9, {4000, 4100}, "other", 10});
  timeline.work.push_back({WorkKind::kernel, 0, 9, {4200, 4300}, "other", 99});
  const json document = json::parse(chrome_trace(timeline));
  EXPECT_EQ(events_of(document, "s").size(), 6U);
  EXPECT_EQ(events_of(document, "f").size(), 6U);
}

TEST(ChromeTrace, KeepsNamesWhateverIsInThem) {
  Timeline timeline;
  timeline.process_name = "a \"b\" \\ c";
  const std::string name =
      "quote \" backslash \\ tab \t newline \n bell \x07 \xC3\xA9 \xE2\x82\xAC </script>";
  timeline.spans = {{1, {0, 1}, name}, {1, {2, 3}, "bad \xFF byte"}};
  const json document = json::parse(chrome_trace(timeline));
  EXPECT_EQ(events_of(document, "M").front().at("args").at("name"), timeline.process_name);
  EXPECT_EQ(events_of(document, "X")[0].at("name"), name);
  EXPECT_EQ(events_of(document, "X")[1].at("name"), "bad \xEF\xBF\xBD byte");
}

TEST(ChromeTrace, OfNothingIsStillATrace) {
  const json document = json::parse(chrome_trace(Timeline{}));
  EXPECT_TRUE(events_of(document, "X").empty());
}

TEST(ChromeTrace, ADeviceNeverHasTheNumberOfTheProcess) {
  Timeline timeline = two_variants();
  timeline.process = 1;  // as in a container
  const json document = json::parse(chrome_trace(timeline));
  for (const json& event : events_of(document, "X")) {
    EXPECT_EQ(event.at("pid") == 1, event.at("cat") == "harness" || event.at("cat") == "api");
  }
}

TEST(CallSums, AreThoseOfTheCallsAfterTheWarmUp) {
  const std::vector<VariantSums> sums = sum_calls(two_variants());
  ASSERT_EQ(sums.size(), 2U);
  const VariantSums& a = sums[0];
  EXPECT_EQ(a.iterations, 2);
  EXPECT_EQ(a.call_ns, 150U + 100U);
  EXPECT_EQ(a.event_ns, 800.0);
  ASSERT_TRUE(a.work);
  EXPECT_EQ(a.work->launches, 2);
  EXPECT_EQ(a.work->kernel_ns, 300U + 390U);
  EXPECT_EQ(a.work->memset_ns, 50U);
  EXPECT_EQ(a.work->memcpy_ns, 0U);
  EXPECT_EQ(a.work->span_ns, 400U + 390U);
  EXPECT_EQ(a.work->gap_ns, 50U);
  EXPECT_EQ(a.work->api_ns, 30U + 40U + 80U);
}

TEST(CallSums, CountKernelsThatOverlapOnceInTheSpanAndBothInTheKernels) {
  const VariantSums b = sum_calls(two_variants())[1];
  ASSERT_TRUE(b.work);
  EXPECT_EQ(b.work->launches, 2);
  EXPECT_EQ(b.work->kernel_ns, 800U);
  EXPECT_EQ(b.work->span_ns, 700U);
  EXPECT_EQ(b.work->gap_ns, 0U);
}

TEST(CallSums, DisagreeOnlyBeyondBothTwoPercentAndAMicrosecond) {
  const auto sums = [](double event_ns, std::uint64_t span_ns) {
    return VariantSums{0, 10, 0, event_ns * 10, WorkSums{.span_ns = span_ns * 10}};
  };
  EXPECT_EQ(disagreement_ns(sums(100'000, 98'100), 0), std::nullopt);  // 1.9 us, 1.9%
  EXPECT_EQ(disagreement_ns(sums(10'000, 9'100), 0), std::nullopt);    // 0.9 us, 9%
  EXPECT_EQ(disagreement_ns(sums(10'000, 8'900), 0), 1100.0);
  EXPECT_EQ(disagreement_ns(sums(100'000, 102'100), 0), 2100.0);
  VariantSums none = sums(100'000, 0);
  none.work.reset();
  EXPECT_EQ(disagreement_ns(none, 0), std::nullopt);
}

TEST(CallSums, WhatEventsTakeIsWhatTheySayOfTheLeastCallBeyondItsSpan) {
  Timeline timeline = two_variants();
  EXPECT_EQ(events_take_ns(timeline), 0.0);  // nothing tells
  timeline.least_call = 0;                   // two calls: events 800, spans 790
  EXPECT_EQ(events_take_ns(timeline), 5.0);
  for (TracedCall& call : timeline.calls) call.event_ns = 1.0;
  EXPECT_EQ(events_take_ns(timeline), 0.0);  // never less than nothing
  for (TracedCall& call : timeline.calls) call.event_ns.reset();
  EXPECT_EQ(events_take_ns(timeline), 0.0);
  const VariantSums sums{0, 10, 0, 1'000'000.0, WorkSums{.span_ns = 959'000}};
  EXPECT_EQ(disagreement_ns(sums, 0), 4100.0);
  EXPECT_EQ(disagreement_ns(sums, 4'000), std::nullopt);
  EXPECT_EQ(disagreement_ns(sums, 8'000), 3900.0);
}

TEST(CallSums, ARowFillsEveryColumnAndLeavesEmptyWhatIsNotThere) {
  const Timeline timeline = two_variants();
  const auto row = sums_row(timeline.variants[0], sum_calls(timeline)[0]);
  EXPECT_THAT(row, ElementsAre("op", "cuda_a", "default", "n=1", "cuda", "2", "2", "690", "50",
                               "790", "0", "50", "150", "250", "800"));
  EXPECT_EQ(row.size(), sums_columns().size());
  const auto bare =
      sums_row(timeline.variants[0], VariantSums{0, 3, 77, std::nullopt, std::nullopt});
  EXPECT_THAT(bare, ElementsAre("op", "cuda_a", "default", "n=1", "cuda", "3", "", "", "", "", "",
                                "", "", "77", ""));
}

TEST(ActivityRecords, GoToTheirCallsWhateverComesFirst) {
  ActivityRecords records;
  records.add(DeviceWork{WorkKind::kernel, 0, 7, {10, 20}, "k", 5});
  records.belongs(5, 42);
  records.add(ApiCall{1, {1, 2}, "cuLaunchKernel", 5});
  records.add(DeviceWork{WorkKind::kernel, 0, 7, {30, 40}, "other", 6});
  Timeline timeline;
  records.move_to(timeline, 1000);
  ASSERT_EQ(timeline.work.size(), 2U);
  EXPECT_EQ(timeline.work[0].call, 42U);
  EXPECT_EQ(timeline.work[1].call, std::nullopt);
  ASSERT_EQ(timeline.api.size(), 1U);
  EXPECT_EQ(timeline.api[0].call, 42U);
}

TEST(ActivityRecords, WithoutATimeAreCountedAndLeftOut) {
  ActivityRecords records;
  records.add(DeviceWork{WorkKind::kernel, 0, 7, {0, 0}, "k", 5});
  records.add(DeviceWork{WorkKind::kernel, 0, 7, {0, 20}, "k", 6});
  records.add_dropped(3);
  Timeline timeline;
  records.move_to(timeline, 0);
  EXPECT_EQ(timeline.work.size(), 1U);
  EXPECT_EQ(timeline.timeless, 1U);
  EXPECT_EQ(timeline.dropped, 3U);
}

TEST(ActivityRecords, ShortApiCallsStayWhereTheyBelongToACallOrStartedWork) {
  ActivityRecords records;
  records.add(ApiCall{1, {0, 999}, "short", 1});
  records.add(ApiCall{1, {0, 1000}, "long", 2});
  records.add(ApiCall{1, {0, 10}, "in a call", 3});
  records.belongs(3, 0);
  records.add(ApiCall{1, {0, 10}, "starts work", 4});
  records.add(DeviceWork{WorkKind::memset, 0, 7, {5, 6}, "memset", 4});
  Timeline timeline;
  records.move_to(timeline, 1000);
  std::vector<std::string> names;
  for (const ApiCall& call : timeline.api) names.push_back(call.name);
  EXPECT_THAT(names, ElementsAre("long", "in a call", "starts work"));
}

TEST(ActivityRecords, NamesAreReadable) {
  EXPECT_EQ(without_version("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(without_version("cuMemAlloc_v2"), "cuMemAlloc");
  EXPECT_EQ(without_version("cu_value"), "cu_value");
  EXPECT_EQ(without_version("cu_v"), "cu_v");
  EXPECT_EQ(readable_kernel_name("_Z3addPfi"), "add(float*, int)");
  EXPECT_EQ(readable_kernel_name("float4_epilogue"), "float4_epilogue");
  EXPECT_EQ(readable_kernel_name(nullptr), "kernel without a name");
  EXPECT_EQ(readable_kernel_name(std::string(500, 'k').c_str()).size(), 120U);
}

TEST(VariantKey, HasNothingThatNsightGivesAMeaning) {
  EXPECT_EQ(
      variant_key("op", "cuda_a", "block_size=256,load=streaming", "n=1,c=2", DeviceKind::cuda),
      "op cuda_a block_size=256,load=streaming n=1,c=2 cuda");
  const std::string key = variant_key("o@p", "a/b", "c:d e", "n=1\n", DeviceKind::cpu);
  EXPECT_EQ(key, "o_p a_b c_d_e n=1_ cpu");
}

TEST(HostRecorder, APhaseHoldsTheVariantAndEndsWhenTheNextBegins) {
  Timeline timeline;
  std::uint64_t now = 0;
  timeline.calls = {{0, false, 0, {}}};
  {
    HostRecorder recorder(timeline, [&] { return now += 10; });
    recorder.enter(Phase::prepare, "key");          // 10
    recorder.enter(Phase::prepare, "key");          // the same: nothing
    recorder.enter(Phase::measure, "key");          // ends at 20, begins at 30
    recorder.add_call(0, recorder.time([] {}));     // 40 to 50
    recorder.conclude("key", Outcome::passed, 10);  // ends at 60
    recorder.leave();                               // nothing is open
    recorder.enter(Phase::verify, "other");         // 70
  }                                                 // ends at 80
  std::vector<std::string> told;
  for (const HostSpan& span : timeline.spans) {
    told.push_back(span.name + " " + std::to_string(span.when.start_ns) + " " +
                   std::to_string(span.when.end_ns));
  }
  EXPECT_THAT(told, ElementsAre("prepare 10 20", "key 10 20", "call 40 50", "measure 30 60",
                                "key 30 60", "verify 70 80", "other 70 80"));
}

}  // namespace
}  // namespace fusebench
