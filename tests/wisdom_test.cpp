// Wisdom: what is kept, and which of it is used. Catches a match that is called exact and is not, wisdom of another architecture,
// operator or variant that is used all the same, a configuration that has left the space, and a broken file that is passed over in silence.
#include "harness/tune/wisdom.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

VariantInfo variant() {
  return {.operator_name = "op",
          .name = "cuda_idea",
          .idea = "",
          .device = DeviceKind::cuda,
          .parameters = ParameterSpace({{"block", integers({1, 2, 3, 4, 5, 6}), "1"}},
                                       {"block * n <= shared_memory_bytes"})};
}

DeviceTraits device(const std::string& name, int architecture = 90) {
  DeviceTraits traits;
  traits.kind = DeviceKind::cuda;
  traits.name = name;
  traits.architecture = Architecture{.number = architecture, .specific = true};
  return traits;
}

Wisdom wisdom(const std::string& device_name, const std::string& problem, int block) {
  return {.operator_name = "op",
          .variant = "cuda_idea",
          .device = "cuda",
          .device_name = device_name,
          .architecture = "sm_90a",
          .problem = problem,
          .configuration = "block=" + std::to_string(block),
          .source = "now"};
}

WisdomMatch match(const std::vector<Wisdom>& all, const std::string& problem = "n=16,c=8",
                  const Properties& properties = {}) {
  return match_wisdom(all, variant(), problem, device("here"), properties, "now");
}

TEST(MatchWisdom, PrefersExactThenAnotherProblemThenAnotherDeviceThenTheDefault) {
  std::vector<Wisdom> all = {wisdom("there", "n=99,c=8", 5), wisdom("there", "n=16,c=8", 4),
                             wisdom("here", "n=64,c=8", 3), wisdom("here", "n=16,c=8", 2)};
  EXPECT_EQ(match(all).configuration, "block=2");
  EXPECT_EQ(match(all).told, "exact");
  all.pop_back();
  EXPECT_EQ(match(all).configuration, "block=3");
  EXPECT_EQ(match(all).told, "other problem: n=64,c=8");
  all.pop_back();
  EXPECT_EQ(match(all).configuration, "block=4");
  EXPECT_EQ(match(all).told, "other device of sm_90a: there");
  all.pop_back();
  EXPECT_EQ(match(all).configuration, "block=5");
  EXPECT_EQ(match(all).told, "other device of sm_90a: there, other problem: n=99,c=8");
  all.pop_back();
  EXPECT_EQ(match(all).configuration, "default");
  EXPECT_THAT(match(all).told, StartsWith("default"));
}

TEST(MatchWisdom, SaysWhatHasChangedAndPrefersWhatWasFoundWithTheSameSources) {
  Wisdom before = wisdom("here", "n=16,c=8", 2);
  before.source = "before";
  EXPECT_EQ(match({before}).configuration, "block=2");
  EXPECT_EQ(match({before}).told, "exact, of other sources of the variant");
  EXPECT_EQ(match({before, wisdom("here", "n=16,c=8", 3)}).configuration, "block=3");
  EXPECT_EQ(match({before, wisdom("here", "n=32,c=8", 3)}).configuration, "block=2")
      << "this problem, of whatever sources, before another";
  Wisdom updated = wisdom("here", "n=64,c=8", 2);
  updated.toolkit = "NVRTC 1";
  updated.driver = "100";
  EXPECT_EQ(match({updated}).told,
            "other problem: n=64,c=8, of another toolkit: NVRTC 1, of another driver: 100");
  updated.device_name = "there";
  EXPECT_EQ(match({updated}).told, "other device of sm_90a: there, other problem: n=64,c=8");
}

TEST(MatchWisdom, TakesTheNearestProblemByTheRatiosOfItsSizes) {
  const std::vector<Wisdom> all = {wisdom("here", "n=1,c=8", 2), wisdom("here", "n=17,c=8", 3),
                                   wisdom("here", "n=16,c=64", 4)};
  EXPECT_EQ(match(all).configuration, "block=3");
  EXPECT_EQ(match({all[0], all[2]}).configuration, "block=4") << "a factor of 8 and one of 16";
}

TEST(MatchWisdom, PassesOverWhatIsOfAnotherArchitectureOperatorVariantOrKindOfProblem) {
  Wisdom architecture = wisdom("there", "n=16,c=8", 2);
  architecture.architecture = "sm_80";
  Wisdom op = wisdom("here", "n=16,c=8", 2);
  op.operator_name = "other";
  Wisdom name = wisdom("here", "n=16,c=8", 2);
  name.variant = "cuda_other";
  Wisdom kind = wisdom("here", "n=16,c=8", 2);
  kind.device = "cpu";
  const Wisdom sizes = wisdom("here", "n=16,d=8", 2);
  for (const Wisdom& one : {architecture, op, name, kind, sizes}) {
    EXPECT_EQ(match({one}).configuration, "default");
  }
  EXPECT_EQ(
      match_wisdom({wisdom("here", "n=16,c=8", 2)}, variant(), "n=16,c=8", std::nullopt, {}, "now")
          .configuration,
      "default");
}

TEST(MatchWisdom, ACpuOfAnotherNameIsNoneOfTheSameArchitecture) {
  VariantInfo info = variant();
  info.device = DeviceKind::cpu;
  DeviceTraits traits;
  traits.name = "here";
  Wisdom one = wisdom("there", "n=16,c=8", 2);
  one.device = "cpu";
  one.architecture = "";
  EXPECT_EQ(match_wisdom({one}, info, "n=16,c=8", traits, {}, "now").configuration, "default");
  one.device_name = "here";
  EXPECT_EQ(match_wisdom({one}, info, "n=16,c=8", traits, {}, "now").configuration, "block=2");
}

TEST(MatchWisdom, PassesOverAConfigurationThatIsNotValidHereAndSaysSo) {
  const Wisdom gone = wisdom("here", "n=16,c=8", 7);
  EXPECT_EQ(match({gone}).configuration, "default");
  EXPECT_THAT(match({gone}).told, HasSubstr("no configuration here"));
  EXPECT_EQ(match({gone, wisdom("here", "n=32,c=8", 2)}).configuration, "block=2");
  // The constraint knows the device: 3 * 16 are more than 40.
  const Properties properties = {{"n", std::int64_t{16}},
                                 {"shared_memory_bytes", std::int64_t{40}}};
  EXPECT_EQ(match({wisdom("here", "n=16,c=8", 3)}, "n=16,c=8", properties).configuration,
            "default");
  EXPECT_EQ(match({wisdom("here", "n=16,c=8", 2)}, "n=16,c=8", properties).configuration,
            "block=2");
}

TEST(WisdomFile, KeepsEveryMember) {
  Wisdom one = wisdom("NVIDIA H200", "n=16,c=8", 2);
  one.median_ns = 12.5;
  one.default_over_best = 1.25;
  one.ties = {"block=3", "block=4"};
  one.measured = 5;
  one.space = 6;
  one.source = "s";
  one.driver = "d";
  one.toolkit = "t";
  one.git_commit = "c";
  one.timestamp = "now";
  const Wisdom back = parse_wisdom("f.json", wisdom_text(one));
  EXPECT_EQ(wisdom_text(back), wisdom_text(one));
  EXPECT_EQ(back.device_name, one.device_name);
  EXPECT_EQ(back.ties, one.ties);
  EXPECT_EQ(back.space, 6U);
  EXPECT_EQ(wisdom_file_name(one), "op.cuda_idea.NVIDIA_H200.n_16_c_8.json");
  one.device_name = "../x/y";
  EXPECT_EQ(wisdom_file_name(one).find('/'), std::string::npos);
}

TEST(WisdomFile, RefusesWhatIsNoneWithItsPath) {
  const std::string good = wisdom_text(wisdom("d", "n=1", 1));
  for (const std::string& text :
       {std::string("{}"), std::string("[]"), std::string("{"),
        std::string(R"({"fusebench_wisdom": 2})"), std::string(R"({"fusebench_wisdom": "one"})"),
        good.substr(0, good.size() / 2)}) {
    EXPECT_THAT([&] { (void)parse_wisdom("f.json", text); },
                ThrowsMessage<Error>(AllOf(HasSubstr("f.json"), HasSubstr("take the file away"))))
        << text;
  }
  std::string negative = good;
  negative.replace(negative.find("\"median_ns\": 0.0"), 16, "\"median_ns\": -1 ");
  EXPECT_THAT([&] { (void)parse_wisdom("f.json", negative); },
              ThrowsMessage<Error>(AllOf(HasSubstr("f.json"), HasSubstr("median_ns"))));
}

TEST(ReadWisdom, ReadsAFolderByNameAndNoFolderAsNothing) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::path(testing::TempDir()) / ("wisdom_test." + std::to_string(getpid()));
  fs::remove_all(folder);
  EXPECT_TRUE(read_wisdom(folder.string()).known.empty());
  fs::create_directories(folder);
  std::ofstream(folder / "b.json") << wisdom_text(wisdom("b", "n=1", 1));
  std::ofstream(folder / "a.json") << wisdom_text(wisdom("a", "n=1", 1));
  std::ofstream(folder / "README") << "no wisdom";
  // What is broken or another program's hides nothing else.
  std::ofstream(folder / "0.json") << "{";
  std::ofstream(folder / "c.json") << "{\"name\": \"a package\"}";
  const WisdomFolder found = read_wisdom(folder.string());
  ASSERT_EQ(found.known.size(), 2U);
  EXPECT_EQ(found.known[0].device_name, "a");
  ASSERT_EQ(found.unreadable.size(), 2U);
  EXPECT_THAT(found.unreadable[0], AllOf(HasSubstr("0.json"), HasSubstr("not JSON")));
  EXPECT_THAT(found.unreadable[1], AllOf(HasSubstr("c.json"), HasSubstr("take the file away")));
  EXPECT_THAT([&] { (void)read_wisdom((folder / "a.json").string()); },
              ThrowsMessage<Error>(AllOf(HasSubstr("a.json"), HasSubstr("--wisdom"))));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace fusebench
