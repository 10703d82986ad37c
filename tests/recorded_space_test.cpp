// Recorded spaces: what is read from Kernel Tuner's files and from T4, and that T4 written is T4 read. Catches
// times in the wrong unit, failures taken for times, entries lost, and broken files that are read all the same.
#include "harness/tune/recorded_space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class RecordedSpaceTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(folder_);
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::string refusal(const std::string& text) const {
    try {
      (void)read_recorded_space(write("bad.json", text));
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("fusebench_recorded_" + std::to_string(testing::UnitTest::GetInstance()->random_seed()) +
       "_" + testing::UnitTest::GetInstance()->current_test_info()->name());
};

json cache() {
  return {{"device_name", "device"},
          {"kernel_name", "kernel"},
          {"tune_params_keys", {"b", "a"}},
          {"tune_params", {{"a", {"x", "y"}}, {"b", {4, 2}}}},
          {"objective", "time"},
          {"cache",
           {{"4,x",
             {{"b", 4},
              {"a", "x"},
              {"time", 2.5},
              {"times", {2.0, 3.0}},
              {"compile_time", 100.0},
              {"verification_time", 10.0},
              {"benchmark_time", 20.0},
              {"strategy_time", 7.0},
              {"framework_time", 1.0},
              {"timestamp", "now"}}},
            {"2,x",
             {{"b", 2}, {"a", "x"}, {"time", "CompilationFailedConfig"}, {"compile_time", 50.0}}},
            {"4,y", {{"b", 4}, {"a", "y"}, {"time", "RuntimeFailedConfig"}}},
            {"2,y", {{"b", 2}, {"a", "y"}, {"time", "InvalidConfig"}}}}}};
}

void expect_what_the_cache_has(const RecordedSpace& recorded) {
  EXPECT_EQ(recorded.kernel, "kernel");
  EXPECT_EQ(recorded.device, "device");
  ASSERT_EQ(recorded.space.size(), 3U);  // InvalidConfig broke the constraints
  const Observation& first = recorded.observations[0];
  EXPECT_EQ(recorded.space.to_string(0), "b=4,a=x");
  EXPECT_TRUE(first.passed());
  EXPECT_DOUBLE_EQ(first.time_ns, 2.5e6);
  EXPECT_THAT(first.samples_ns, testing::ElementsAre(2.0e6, 3.0e6));
  EXPECT_DOUBLE_EQ(first.cost_ns(), 131.0e6);
  EXPECT_EQ(recorded.space.to_string(1), "b=4,a=y");
  EXPECT_EQ(recorded.observations[1].invalidity, Invalidity::runtime);
  EXPECT_EQ(recorded.space.to_string(2), "b=2,a=x");
  EXPECT_EQ(recorded.observations[2].invalidity, Invalidity::compile);
  EXPECT_EQ(recorded.observations[2].failure, "CompilationFailedConfig");
  EXPECT_DOUBLE_EQ(recorded.observations[2].cost_ns(), 50.0e6);
}

TEST_F(RecordedSpaceTest, KernelTunersCacheIsReadWithItsOrderUnitsAndFailures) {
  expect_what_the_cache_has(read_recorded_space(write("cache.json", cache().dump())));
}

TEST_F(RecordedSpaceTest, ACacheThatWasNotClosedYetIsReadAsFarAsItGoes) {
  std::string text = cache().dump();
  // nlohmann sorts the members, so the cache is the first; a real one is the last.
  json without = cache();
  without.erase("cache");
  text = without.dump();
  text.back() = ',';
  std::string entries = cache()["cache"].dump();
  entries.back() = ',';
  const RecordedSpace open =
      read_recorded_space(write("open.json", text + "\"cache\":" + entries + "\n"));
  expect_what_the_cache_has(open);
  EXPECT_TRUE(open.unclosed);
  EXPECT_FALSE(read_recorded_space(write("cache.json", cache().dump())).unclosed);
}

TEST_F(RecordedSpaceTest, T4IsReadAsTheCacheItWasWrittenFrom) {
  const RecordedSpace first = read_recorded_space(write("cache.json", cache().dump()));
  const std::string text = t4_text(first);
  const RecordedSpace second = read_recorded_space(write("t4.json", text));
  ASSERT_EQ(second.space.size(), first.space.size());
  for (std::size_t i = 0; i < second.space.size(); ++i) {
    std::size_t k = 0;
    while (first.space.to_string(k) != second.space.to_string(i)) ++k;  // T4's values are sorted
    const Observation& a = first.observations[k];
    const Observation& b = second.observations[i];
    EXPECT_EQ(a.invalidity, b.invalidity);
    EXPECT_NEAR(a.time_ns, b.time_ns, 1e-9 * a.time_ns);
    EXPECT_EQ(a.samples_ns.size(), b.samples_ns.size());
    EXPECT_NEAR(a.compile_ns, b.compile_ns, 1e-3);
    EXPECT_NEAR(a.verify_ns, b.verify_ns, 1e-3);
    EXPECT_EQ(a.timestamp, b.timestamp);
  }
}

TEST_F(RecordedSpaceTest, T4WrittenHasWhatTheFormatAsksFor) {
  const json document =
      json::parse(t4_text(read_recorded_space(write("cache.json", cache().dump()))));
  EXPECT_EQ(document["schema_version"], "1.0.0");
  ASSERT_EQ(document["results"].size(), 3U);
  for (const json& result : document["results"]) {
    EXPECT_TRUE(result["timestamp"].is_string());
    EXPECT_TRUE(result["configuration"].is_object());
    EXPECT_EQ(result["objectives"], json::array({"time"}));
    for (const char* key : {"compilation", "framework", "search_algorithm", "validation"}) {
      EXPECT_TRUE(result["times"][key].is_number()) << key;
    }
    EXPECT_TRUE(result["times"]["runtimes"].is_array());
    EXPECT_THAT(std::vector<std::string>({"correct", "compile", "runtime"}),
                testing::Contains(result["invalidity"].get<std::string>()));
    EXPECT_EQ(result["correctness"], result["invalidity"] == "correct" ? 1 : 0);
    for (const json& measurement : result["measurements"]) {
      EXPECT_EQ(measurement["name"], "time");
      EXPECT_TRUE(measurement["value"].is_number());
      EXPECT_EQ(measurement["unit"], "milliseconds");
    }
  }
}

TEST_F(RecordedSpaceTest, T4sTimeUnitIsHeeded) {
  json document = {{"schema_version", "1.0.0"},
                   {"metadata", {{"timeunit", "microseconds"}}},
                   {"results",
                    {{{"configuration", {{"z", 2}, {"a", true}}},
                      {"times", {{"compilation_time", 3.0}, {"runtimes", {5.0}}}},
                      {"invalidity", "correct"},
                      {"correctness", 1},
                      {"measurements", {{{"name", "time"}, {"value", 5.0}, {"unit", ""}}}}},
                     {{"configuration", {{"z", 1}, {"a", true}}},
                      {"times", json::object()},
                      {"invalidity", "constraints"},
                      {"correctness", 0}}}}};
  const RecordedSpace recorded = read_recorded_space(write("t4.json", document.dump()));
  ASSERT_EQ(recorded.space.size(), 1U);
  EXPECT_DOUBLE_EQ(recorded.observations[0].time_ns, 5e3);
  EXPECT_DOUBLE_EQ(recorded.observations[0].cost_ns(), 8e3);
  document["metadata"]["timeunit"] = "fortnights";
  EXPECT_THAT(refusal(document.dump()), HasSubstr("'fortnights'"));
}

TEST_F(RecordedSpaceTest, ForeignAndBrokenFilesAreRefusedByName) {
  const auto changed = [](const char* pointer, const json& value) {
    json document = cache();
    document[json::json_pointer(pointer)] = value;
    return document.dump();
  };
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"", "no recorded space"},
      {"{}", "no recorded space"},
      {"{\"cache\": {", "not JSON"},
      {cache().dump().substr(0, 300), "not JSON"},
      {"{\"cache\": {}}", "'tune_params_keys' is missing"},
      {"{\"results\": []}", "'schema_version' is missing"},
      {"{\"results\": [], \"schema_version\": \"1.0.0\"}", "no results"},
      {"{\"results\": [], \"schema_version\": \"2.0.0\"}", "'2.0.0'"},
      {changed("/objective", "GFLOP/s"), "'GFLOP/s'"},
      {changed("/cache/4,x/b", 8), "entry '4,x': parameter 'b' has no value 8"},
      {changed("/cache/4,x/time", -1.0), "entry '4,x'"},
      {changed("/cache/4,x/time", 0), "entry '4,x'"},
      {changed("/cache/4,x/time", nullptr), "entry '4,x'"},
      {changed("/cache/4,x/time", "RuntimeFailedConfig"), "no configuration in it passed"},
      {changed("/cache/4,x/times", {"a"}), "entry '4,x': 'times'"},
      {changed("/cache/4,x/compile_time", "long"), "'compile_time' is no number"},
      {changed("/cache/2,x/b", 4), "'b=4,a=x' is there twice"},
      {changed("/tune_params/b", {4}), "parameter 'b' has no value 2"},
      {changed("/tune_params/b", 4), "'b' is no list"},
  };
  for (const auto& [text, words] : refused) {
    const std::string message = refusal(text);
    EXPECT_THAT(message, HasSubstr(words));
    EXPECT_THAT(message, HasSubstr("bad.json"));
  }
}

}  // namespace
}  // namespace fusebench
