// Tensors, problems, architectures and the registry. Catches sizes that overflow before they are refused,
// coordinates in the wrong order, names taken twice, and refusals that do not say what was wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <utility>

#include "harness/core/error.hpp"
#include "harness/core/kernel.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/tensor.hpp"

namespace fusebench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t two_to_60 = std::int64_t{1} << 60;

TEST(ElementCount, IsTheProductOfTheExtents) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({7}), 7);
  EXPECT_EQ(element_count({16, 64, 32, 64, 64}), 134217728);
  EXPECT_EQ(element_count({257, 64, 32, 64, 64}), 2155872256);  // beyond 2^31
  EXPECT_EQ(element_count({3, 0, 5}), 0);
}

TEST(ElementCount, Accepts2To60AndRefusesTheNextProductBeforeItOverflows) {
  EXPECT_EQ(element_count({two_to_60}), two_to_60);
  EXPECT_EQ(element_count({1 << 30, 1 << 30}), two_to_60);
  EXPECT_EQ(element_count({0, std::numeric_limits<std::int64_t>::max()}), 0);
  for (const Shape& shape :
       {Shape{two_to_60 + 1}, Shape{1 << 30, (1 << 30) + 1},
        Shape{std::numeric_limits<std::int64_t>::max()},
        // 2^64 and 2^66: the wrapped products look small.
        Shape{std::int64_t{1} << 32, std::int64_t{1} << 32}, Shape{4, two_to_60, 16}}) {
    EXPECT_THAT([&] { (void)element_count(shape); },
                ThrowsMessage<Error>(AllOf(HasSubstr(to_string(shape)), HasSubstr("2^60"))));
  }
}

TEST(ElementCount, RefusesANegativeExtentByName) {
  EXPECT_THAT(
      [] {
        (void)element_count({2, -3});
      },
      ThrowsMessage<Error>(AllOf(HasSubstr("[2,-3]"), HasSubstr("negative"))));
}

TEST(Coordinates, NameTheFiveDimensionsWithTheLastFastest) {
  const Shape shape = {2, 3, 4, 5, 6};
  EXPECT_EQ(coordinates(shape, 0), "(n=0, c=0, d=0, h=0, w=0)");
  EXPECT_EQ(coordinates(shape, 1), "(n=0, c=0, d=0, h=0, w=1)");
  EXPECT_EQ(coordinates(shape, 1 * 360 + 2 * 120 + 3 * 30 + 4 * 6 + 5),
            "(n=1, c=2, d=3, h=4, w=5)");
}

TEST(Coordinates, ArePlainNumbersForOtherRanksAndReachBeyond32Bits) {
  EXPECT_EQ(coordinates({4, 5}, 13), "(2, 3)");
  EXPECT_EQ(coordinates({3, std::int64_t{1} << 33}, (std::int64_t{1} << 34) + 7), "(2, 7)");
}

constexpr std::array<std::string_view, 3> names = {"n", "c", "w"};

TEST(ParseSizes, GivesTheOperatorsOrderWhateverTheOrderInTheText) {
  const Problem problem = parse_sizes("w=7,n=2,c=3000000000", names);
  EXPECT_THAT(problem.sizes(),
              ElementsAre(std::pair("n", 2), std::pair("c", 3000000000), std::pair("w", 7)));
  EXPECT_EQ(problem.to_string(), "n=2,c=3000000000,w=7");
  EXPECT_EQ(parse_sizes(problem.to_string(), names), problem);
}

TEST(ParseSizes, NamesTheSizeThatIsMissingUnknownTwiceOrOutOfRange) {
  const std::array<std::pair<const char*, const char*>, 9> cases = {{
      {"n=1,c=2", "'w' is missing"},
      {"", "'n' is missing"},
      {"n=1,c=2,w=3,k=4", "unknown size 'k'"},
      {"n=1,c=2,w=3,c=5", "'c' is given twice"},
      {"n=0,c=2,w=3", "n must be at least 1, not 0"},
      {"n=1,c=-2,w=3", "c must be at least 1, not -2"},
      {"n=1,c=2,w=3x", "w: '3x' is not a whole number"},
      {"n=1,c=2,w=9223372036854775808", "w: '9223372036854775808' is not a whole number"},
      {"n=1,c2,w=3", "'c2' is not of the form key=value"},
  }};
  for (const auto& [text, message] : cases) {
    EXPECT_THAT([t = text] { (void)parse_sizes(t, names); },
                ThrowsMessage<Error>(HasSubstr(message)));
  }
}

TEST(Problem, SaysWhichSizeItHasNot) {
  const Problem problem({{"n", 4}});
  EXPECT_EQ(problem.size("n"), 4);
  EXPECT_THAT([&] { (void)problem.size("q"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("n=4"), HasSubstr("'q'"))));
}

TEST(Architecture, ReadsWhatItWrites) {
  for (const char* text : {"sm_80", "sm_90a", "sm_100a", "sm_120"}) {
    EXPECT_EQ(parse_architecture(text).to_string(), text);
  }
  EXPECT_EQ(parse_architecture("sm_90a").number, 90);
  EXPECT_TRUE(parse_architecture("sm_90a").specific);
  EXPECT_FALSE(parse_architecture("sm_90").specific);
}

TEST(Architecture, RefusesEverythingElseByName) {
  for (const char* text : {"", "90", "sm_", "sm_a", "sm_9", "sm_-90", "sm_90aa", "sm_90b", "sm_90 ",
                           "compute_90", "SM_90", "sm_9999999999999"}) {
    EXPECT_THAT([&] { (void)parse_architecture(text); },
                ThrowsMessage<Error>(HasSubstr("'" + std::string(text) + "'")));
  }
}

class NamedOperator final : public Operator {
 public:
  explicit NamedOperator(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return ""; }
  std::string_view problem_help() const override { return ""; }
  Problem parse_problem(std::string_view) const override { return {}; }
  std::vector<Problem> awkward_problems(Battery) const override { return {}; }
  std::vector<Problem> small_problems() const override { return {}; }
  std::vector<InputSet> input_sets() const override { return {}; }
  std::vector<TensorSpec> tensors(const Problem&) const override { return {}; }
  std::int64_t useful_bytes(const Problem&) const override { return 0; }
  std::int64_t flops(const Problem&) const override { return 0; }
  std::unique_ptr<Oracle> oracle(const Problem&,
                                 std::span<const std::span<const float>>) const override {
    return nullptr;
  }
  ErrorBound bound(Precision) const override { return {}; }

 private:
  std::string name_;
};

class NamedVariant final : public Variant {
 public:
  NamedVariant(std::string op, std::string name, DeviceKind kind = DeviceKind::cpu)
      : info_{.operator_name = std::move(op), .name = std::move(name), .device = kind} {}
  const VariantInfo& info() const override { return info_; }
  std::optional<std::string> unavailable(const DeviceTraits&) const override { return {}; }
  std::unique_ptr<Plan> prepare(const Problem&, const Configuration&, Device&) const override {
    return nullptr;
  }

 private:
  VariantInfo info_;
};

TEST(Registry, RefusesANameThatIsTakenAndKeepsTheFirst) {
  Registry registry;
  registry.add(std::make_unique<NamedOperator>("op"));
  const Operator* first = &registry.find_operator("op");
  EXPECT_THAT([&] { registry.add(std::make_unique<NamedOperator>("op")); },
              ThrowsMessage<Error>(HasSubstr("'op' is registered twice")));
  EXPECT_EQ(&registry.find_operator("op"), first);

  registry.add(std::make_unique<NamedVariant>("op", "cpu_a"));
  EXPECT_THAT([&] { registry.add(std::make_unique<NamedVariant>("op", "cpu_a")); },
              ThrowsMessage<Error>(AllOf(HasSubstr("'cpu_a'"), HasSubstr("twice"))));
  EXPECT_TRUE(registry.add(std::make_unique<NamedVariant>("other", "cpu_a")));
  EXPECT_EQ(registry.variants("op").size(), 1U);

  registry.add_source("a.cu", "text");
  EXPECT_THAT([&] { registry.add_source("a.cu", "other"); },
              ThrowsMessage<Error>(HasSubstr("'a.cu' is registered twice")));
  EXPECT_EQ(registry.sources().at("a.cu"), "text");
}

TEST(Registry, GivesTheCpuVariantsFirstThenByName) {
  Registry registry;
  registry.add(std::make_unique<NamedVariant>("op", "a_cuda", DeviceKind::cuda));
  registry.add(std::make_unique<NamedVariant>("op", "z_cpu"));
  registry.add(std::make_unique<NamedVariant>("op", "b_cpu"));
  registry.add(std::make_unique<NamedVariant>("elsewhere", "a_cpu"));
  std::vector<std::string> found;
  for (const Variant* variant : registry.variants("op")) found.push_back(variant->info().name);
  EXPECT_THAT(found, ElementsAre("b_cpu", "z_cpu", "a_cuda"));
}

TEST(Registry, NamesWhatItCannotFindAndWhatThereIs) {
  Registry registry;
  registry.add(std::make_unique<NamedOperator>("known"));
  EXPECT_THAT([&] { (void)registry.find_operator("absent"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("'absent'"), HasSubstr("known"))));
  EXPECT_THAT([&] { (void)registry.find_variant("known", "absent"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("'known'"), HasSubstr("'absent'"))));
}

}  // namespace
}  // namespace fusebench
