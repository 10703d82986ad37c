// The tuning log, and what is replayed from it. Catches entries lost or changed on their way through the file, a torn line that
// spoils the file, a log of something else that is written to, and a replay that mixes two versions of a kernel.
#include "harness/tune/tuning_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/core/error.hpp"
#include "harness/tune/recorded_space.hpp"

namespace fusebench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class TuningLogTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static TuningEntry entry(const std::string& variant, const std::string& configuration,
                           double median_ns, const std::string& source = "s") {
    return {.variant = variant,
            .configuration = configuration,
            .outcome = median_ns > 0.0 ? "passed" : "wrong",
            .reason = median_ns > 0.0 ? "" : "at case 3",
            .median_ns = median_ns,
            .samples_ns = {median_ns, median_ns + 1},
            .search_ns = 1,
            .ahead_ns = 2,
            .compile_ns = 3,
            .verify_ns = 4,
            .measure_ns = 5,
            .total_ns = 20,
            .basis = {source, "-O", "NVRTC", "driver", "quick"},
            .git_commit = "c",
            .timestamp = "t"};
  }
  [[nodiscard]] std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }
  void write(const std::string& all) const { std::ofstream(path_, std::ios::binary) << all; }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("tuning_log_test." + std::to_string(getpid()));
  std::string path_ = (folder_ / "log.jsonl").string();
  TuningTarget target_{"op", "n=1", "cuda", "NVIDIA H200"};
};

TEST_F(TuningLogTest, GivesBackWhatWasAppended) {
  const TuningEntry one = entry("v", "a=1", 7.5);
  TuningLog(path_, target_).append(one);
  const TuningLog again(path_, target_);
  ASSERT_EQ(again.entries().size(), 1U);
  const TuningEntry& back = again.entries().front();
  EXPECT_EQ(back.stage, "search");
  EXPECT_EQ(back.configuration, "a=1");
  EXPECT_EQ(back.samples_ns, one.samples_ns);
  EXPECT_EQ(back.ahead_ns, 2);
  EXPECT_EQ(back.measure_ns, 5);
  EXPECT_EQ(back.basis, one.basis);
  EXPECT_EQ(back.git_commit, "c");
}

TEST_F(TuningLogTest, TakesATornLastLineAwayWhereverItWasTorn) {
  {
    TuningLog log(path_, target_);
    log.append(entry("v", "a=1", 7.5));
    log.append(entry("v", "a=2", 8.5));
  }
  const std::string whole = text();
  const std::size_t second = whole.rfind('\n', whole.size() - 2) + 1;
  for (const std::size_t kept : {second + 1, second + 40, whole.size() - 1}) {
    write(whole.substr(0, kept));
    EXPECT_EQ(TuningLog(path_, target_).entries().size(), 1U);
    EXPECT_EQ(text(), whole.substr(0, second));
  }
  // Killed while the first line was written.
  write(whole.substr(0, 25));
  EXPECT_TRUE(TuningLog(path_, target_).entries().empty());
  EXPECT_EQ(text(), whole.substr(0, whole.find('\n') + 1));
}

TEST_F(TuningLogTest, RefusesAnotherTargetByNameAndLeavesTheFile) {
  { const TuningLog log(path_, target_); }
  const std::string before = text();
  TuningTarget other = target_;
  other.device_name = "NVIDIA A100";
  EXPECT_THAT([&] { TuningLog(path_, other); },
              ThrowsMessage<Error>(AllOf(HasSubstr("device_name"), HasSubstr("NVIDIA H200"),
                                         HasSubstr("NVIDIA A100"))));
  other = target_;
  other.problem = "n=2";
  EXPECT_THAT(
      [&] { TuningLog(path_, other); },
      ThrowsMessage<Error>(AllOf(HasSubstr("problem"), HasSubstr("n=1"), HasSubstr("n=2"))));
  EXPECT_EQ(text(), before);
}

TEST_F(TuningLogTest, RefusesOtherVersionsAndOtherFilesAndLeavesThem) {
  for (const char* all : {"{\"fusebench_tuning_log\":1,\"operator\":\"op\"}\n", "{}\n", "a,b\n",
                          "{\"fuss", "x", "{\"fusebench_tuning_log\":2,\"operator\":\"op\"}\n"}) {
    write(all);
    EXPECT_THROW(TuningLog(path_, target_), Error) << all;
    EXPECT_EQ(text(), all);
  }
  { std::filesystem::remove(path_); }
  { const TuningLog log(path_, target_); }
  write(text() + "{\"stage\":\n" + "{}\n");
  const std::string before = text();
  EXPECT_THAT([&] { TuningLog(path_, target_); }, ThrowsMessage<Error>(HasSubstr("log.jsonl:2")));
  EXPECT_EQ(text(), before);
}

TEST_F(TuningLogTest, RefusesAMedianThatIsNoTimeByItsLine) {
  { TuningLog(path_, target_).append(entry("v", "a=1", 7.5)); }
  const std::string good = text();
  const std::string line = good.substr(good.find('\n') + 1);
  const auto with = [&](const std::string& median, const std::string& outcome) {
    std::string bad = line;
    bad.replace(bad.find("7.5"), 3, median);
    return bad.replace(bad.find("passed"), 6, outcome);
  };
  for (const auto& bad : {with("0.0", "passed"), with("-7.5", "passed"), with("-7.5", "wrong"),
                          with("1e999", "passed"), with("null", "passed")}) {
    write(good + bad);
    EXPECT_THAT([&] { TuningLog(path_, target_); }, ThrowsMessage<Error>(HasSubstr("log.jsonl:3")))
        << bad;
    EXPECT_EQ(text(), good + bad);
  }
  write(good + with("0.0", "wrong"));
  EXPECT_EQ(TuningLog(path_, target_).entries().size(), 2U);
}

TEST_F(TuningLogTest, IsWrittenByOneSearchAtATime) {
  TuningLog log(path_, target_);
  log.append(entry("v", "a=1", 7.5));
  const std::string torn = "{\"stage\":";
  std::ofstream(path_, std::ios::app) << torn;  // as the other search may be writing it
  const std::string before = text();
  EXPECT_THAT(
      [&] { TuningLog(path_, target_); },
      ThrowsMessage<Error>(AllOf(HasSubstr("log.jsonl"), HasSubstr("another search writes"))));
  EXPECT_EQ(text(), before);
}

TEST_F(TuningLogTest, RefusesAGzippedLogAndLeavesIt) {
  const std::string packed = "\x1f\x8b\x08 and whatever follows\n";
  write(packed);
  EXPECT_THAT([&] { TuningLog(path_, target_); },
              ThrowsMessage<Error>(AllOf(HasSubstr("log.jsonl"), HasSubstr("gunzip it first"))));
  EXPECT_EQ(text(), packed);
}

TEST_F(TuningLogTest, KeepsAReasonThatIsNoUtf8WithItsBytesReplaced) {
  TuningEntry one = entry("v", "a=1", 0.0);
  one.reason = "it said \xff and died";
  TuningLog(path_, target_).append(one);
  const TuningLog again(path_, target_);
  ASSERT_EQ(again.entries().size(), 1U);
  EXPECT_THAT(again.entries().front().reason, testing::EndsWith(" and died"));
}

TEST_F(TuningLogTest, IsReplayedWithTheFailuresOfAFinal) {
  {
    TuningLog log(path_, target_);
    log.append(entry("v", "a=1", 7.5));
    log.append(entry("v", "a=2", 8.5));
    TuningEntry failed = entry("v", "a=1", 0.0);
    failed.stage = "final";
    failed.verify_ns = 400;
    log.append(failed);
    failed.configuration = "a=2";
    failed.basis.source = "other";
    log.append(failed);
  }
  const RecordedSpace v = read_recorded_spaces(path_, "").at(0).recorded;
  ASSERT_EQ(v.space.size(), 2U);
  EXPECT_EQ(v.observations[0].invalidity, Invalidity::correctness);
  EXPECT_EQ(v.observations[0].verify_ns, 4.0) << "what the search spent";
  EXPECT_EQ(v.observations[1].time_ns, 8.5);
  EXPECT_EQ(v.begin, std::optional<std::size_t>(0));
}

TEST_F(TuningLogTest, ItsFirstEntryIsTheDefaultThatAReplayBeginsWith) {
  {
    TuningLog log(path_, target_);
    for (const char* configuration : {"a=2", "a=1", "a=3", "a=2"}) {
      log.append(entry("v", configuration, 7.5));
    }
  }
  const RecordedSpace v = read_recorded_spaces(path_, "").at(0).recorded;
  EXPECT_EQ(v.begin, std::optional<std::size_t>(1));
}

TEST_F(TuningLogTest, IsReplayedVariantByVariantWithItsCosts) {
  {
    TuningLog log(path_, target_);
    log.append(entry("v", "a=2,b=x", 7.5));
    log.append(entry("w", "a=1", 3.0));
    log.append(entry("v", "a=1,b=y", 0.0));
    TuningEntry last = entry("v", "a=2,b=x", 6.0);
    last.stage = "final";
    log.append(last);
  }
  const std::vector<NamedSpace> both = read_recorded_spaces(path_, "");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].name, "v");
  const RecordedSpace& v = both[0].recorded;
  EXPECT_EQ(v.kernel, "op v");
  EXPECT_EQ(v.device, "NVIDIA H200");
  ASSERT_EQ(v.space.size(), 2U);
  EXPECT_EQ(v.space.to_string(0), "a=1,b=y");
  EXPECT_EQ(v.observations[0].invalidity, Invalidity::correctness);
  EXPECT_EQ(v.space.to_string(1), "a=2,b=x");
  EXPECT_EQ(v.observations[1].time_ns, 7.5) << "the final's figure is no search's";
  EXPECT_EQ(v.observations[1].compile_ns, 5.0);
  EXPECT_EQ(v.observations[1].framework_ns, 8.0);
  EXPECT_EQ(v.observations[1].search_ns, 1.0);
  EXPECT_EQ(read_recorded_spaces(path_, " w$").size(), 1U);
  EXPECT_THROW((void)read_recorded_spaces(path_, "nothing"), Error);
  EXPECT_THROW((void)read_recorded_spaces(path_, "("), Error);
  EXPECT_NE(t4_text(v).find("\"a\":2"), std::string::npos);
}

TEST_F(TuningLogTest, IsReplayedWithoutWhatWasMeasuredOfOtherSources) {
  {
    TuningLog log(path_, target_);
    log.append(entry("v", "a=1", 7.0, "old"));
    log.append(entry("v", "a=2", 8.0, "old"));
    log.append(entry("w", "a=1", 9.0, "old"));
    log.append(entry("v", "a=2", 5.0, "new"));
    log.append(entry("v", "a=2", 6.0, "new"));
  }
  const std::vector<NamedSpace> both = read_recorded_spaces(path_, "");
  ASSERT_EQ(both.size(), 2U);
  ASSERT_EQ(both[0].recorded.space.size(), 1U);
  EXPECT_EQ(both[0].recorded.observations[0].time_ns, 6.0) << "of one configuration the last";
  EXPECT_EQ(both[1].recorded.space.size(), 1U);
}

}  // namespace
}  // namespace fusebench
