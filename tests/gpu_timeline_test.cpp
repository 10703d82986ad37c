// What CUPTI says of a GPU, held against our own clock and our own counts. Catches events that do not enclose a
// call's work, kernels given to another call, launches without an arrow, and lanes on which a viewer drops kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/error.hpp"
#include "harness/session/profiler.hpp"
#include "harness/trace/call_sums.hpp"
#include "harness/trace/chrome_trace.hpp"
#include "harness/trace/device_recorder.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

using nlohmann::json;

class GpuTimeline : public testing::Test {
 protected:
  void SetUp() override {
    const DeviceStatus status = probe_device(DeviceKind::cuda);
    if (!status.traits) GTEST_SKIP() << status.reason;
    try {
      (void)open_cupti();
    } catch (const Unavailable& reason) {
      GTEST_SKIP() << reason.what();
    }
  }

  void profile_all(const std::string& problem, int iterations, bool flush) {
    SessionOptions session;
    session.measure = false;
    session.seed = test::seed();
    items_.clear();
    for (const Operator* op : registry().operators()) {
      const Selection selection{.operator_name = std::string(op->name()),
                                .devices = {DeviceKind::cuda},
                                .problem = problem};
      for (Item& item : plan_session(selection, session)) items_.push_back(std::move(item));
    }
    ProfileOptions options;
    options.seed = session.seed;
    options.iterations = iterations;
    options.flush = flush;
    options.record = true;
    profile_ = profile(items_, options);
    ASSERT_EQ(profile_.without_device, "");
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const ProfiledVariant& variant = profile_.variants[i];
      EXPECT_TRUE(variant.outcome == Outcome::passed || variant.outcome == Outcome::unavailable)
          << items_[i].job.variant << ": " << variant.reason;
    }
    EXPECT_EQ(profile_.timeline.dropped, 0U);
    EXPECT_EQ(profile_.timeline.timeless, 0U);
  }

  std::vector<Item> items_;
  Profile profile_;
};

// The official problems are long enough to hide a launch behind the call before, so events enclose work alone.
TEST_F(GpuTimeline, TheDevicesRecordAgreesWithEventsForEveryVariant) {
  profile_all("official", 10, false);
  const std::vector<VariantSums> all = sum_calls(profile_.timeline);
  const double events_take = events_take_ns(profile_.timeline);
  std::printf("two events take %.1f ns\n", events_take);
  EXPECT_GT(events_take, 0.0);
  EXPECT_LT(events_take, 20'000.0);
  for (const VariantSums& sums : all) {
    const TracedVariant& variant = profile_.timeline.variants[sums.variant];
    ASSERT_TRUE(sums.work) << variant.key;
    ASSERT_TRUE(sums.event_ns) << variant.key;
    const auto calls = static_cast<double>(sums.iterations);
    std::printf("%-60s events %12.1f ns, span %12.1f ns, kernels %12.1f ns, gaps %10.1f ns\n",
                (variant.operator_name + " " + variant.variant).c_str(), *sums.event_ns / calls,
                static_cast<double>(sums.work->span_ns) / calls,
                static_cast<double>(sums.work->kernel_ns) / calls,
                static_cast<double>(sums.work->gap_ns) / calls);
    EXPECT_EQ(disagreement_ns(sums, events_take), std::nullopt) << variant.key;
  }
  const auto passed = std::count_if(profile_.variants.begin(), profile_.variants.end(),
                                    [](const auto& one) { return one.outcome == Outcome::passed; });
  EXPECT_EQ(static_cast<std::ptrdiff_t>(all.size()), passed + 1);  // and the least call
}

TEST_F(GpuTimeline, CountsTheKernelsThatWeLaunched) {
  profile_all("quick", 3, false);
  for (const VariantSums& sums : sum_calls(profile_.timeline)) {
    const TracedVariant& variant = profile_.timeline.variants[sums.variant];
    ASSERT_TRUE(sums.work) << variant.key;
    if (sums.variant == profile_.timeline.least_call) continue;
    const std::int64_t ours = profile_.variants[sums.variant].launches;
    // One call to a library may launch several.
    if (variant.variant.find("cudnn") != std::string::npos) {
      EXPECT_GE(sums.work->launches, ours) << variant.key;
    } else {
      EXPECT_EQ(sums.work->launches, ours) << variant.key;
    }
  }
}

TEST_F(GpuTimeline, NoWorkBeginsBeforeTheCallThatStartedIt) {
  profile_all("quick", 3, true);
  std::map<std::uint32_t, const ApiCall*> starts;
  for (const ApiCall& call : profile_.timeline.api) starts[call.correlation] = &call;
  constexpr std::uint64_t clocks_differ_ns = 5000;  // the GPU's is fitted to the host's
  std::map<std::size_t, TimeSpan> calls;
  for (const HostSpan& span : profile_.timeline.spans) {
    if (span.call) calls[*span.call] = span.when;
  }
  for (const ApiCall& call : profile_.timeline.api) {
    if (!call.call) continue;
    ASSERT_TRUE(calls.contains(*call.call)) << call.name;
    EXPECT_GE(call.when.start_ns + 1000, calls[*call.call].start_ns) << call.name;
    EXPECT_LE(call.when.end_ns, calls[*call.call].end_ns + 1000) << call.name;
  }
  for (const DeviceWork& work : profile_.timeline.work) {
    ASSERT_TRUE(starts.contains(work.correlation)) << work.name;
    EXPECT_GE(work.when.start_ns + clocks_differ_ns, starts[work.correlation]->when.start_ns)
        << work.name;
    EXPECT_LE(work.when.start_ns, work.when.end_ns);
  }
}

TEST_F(GpuTimeline, EveryLaunchHasAnArrowAndNoLaneAnOverlap) {
  profile_all("official", 5, false);
  const std::string text = chrome_trace(profile_.timeline);
  std::printf("the trace has %zu bytes\n", text.size());
  EXPECT_LT(text.size(), 1'000'000U);
  const json document = json::parse(text);
  using Place = std::tuple<std::int64_t, std::int64_t, double>;
  std::set<Place> arrows;
  std::set<std::int64_t> begun;
  for (const json& event : document.at("traceEvents")) {
    if (event.at("ph") == "s") begun.insert(event.at("id").get<std::int64_t>());
    if (event.at("ph") != "f") continue;
    arrows.emplace(event.at("pid"), event.at("tid"), event.at("ts"));
    EXPECT_TRUE(begun.contains(event.at("id").get<std::int64_t>())) << event;
  }
  std::map<std::pair<std::int64_t, std::int64_t>, double> reached;
  std::size_t kernels = 0;
  for (const json& event : document.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const std::string category = event.at("cat");
    if (category != "kernel" && category != "memcpy" && category != "memset") continue;
    ++kernels;
    const double ts = event.at("ts");
    EXPECT_TRUE(arrows.contains(Place(event.at("pid"), event.at("tid"), ts))) << event;
    double& end = reached[{event.at("pid"), event.at("tid")}];
    EXPECT_GE(ts, end - 0.0005) << event;  // a thousandth, halved: what doubles may err
    end = ts + event.at("dur").get<double>();
  }
  EXPECT_EQ(kernels, profile_.timeline.work.size());
}

TEST_F(GpuTimeline, WhereSomebodyHoldsCuptiARecorderStepsAside) {
  const auto first = open_cupti();
  try {
    (void)open_cupti();
    FAIL() << "two at once";
  } catch (const Unavailable& reason) {
    EXPECT_NE(std::string(reason.what()).find("another profiler"), std::string::npos)
        << reason.what();
  }
}

}  // namespace
}  // namespace fusebench
