// Every CPU variant on values that no random input holds, at every alignment, through the plan itself.
// Catches contraction by the compiler, NaN and Inf handled by luck, and tails of rows.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "harness/core/registry.hpp"
#include "harness/device/device.hpp"
#include "harness/verify/acceptance.hpp"
#include "harness/verify/examiner.hpp"
#include "reference/residual_epilogue.hpp"
#include "tests/npy.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

const Operator& epilogue() { return registry().find_operator(residual_epilogue::operator_name); }

std::vector<const Variant*> cpu_variants() {
  std::vector<const Variant*> found;
  for (const Variant* variant : registry().variants(residual_epilogue::operator_name)) {
    if (variant->info().device == DeviceKind::cpu) found.push_back(variant);
  }
  return found;
}

class CpuVariant : public testing::TestWithParam<const Variant*> {
 protected:
  void SetUp() override {
    const auto reason = GetParam()->unavailable(device_->traits());
    if (reason) GTEST_SKIP() << *reason;
  }
  std::unique_ptr<Device> device_ = open_device(DeviceKind::cpu, {});
};

TEST_P(CpuVariant, KeepsItsContractOnEveryPairOfSpecialValues) {
  const std::string folder = test::golden_folder() + "/special/";
  const auto c = test::read_npy<float>(folder + "c.npy");
  const auto b = test::read_npy<float>(folder + "b.npy");
  // Each pair has a bias of its own: as many channels as pairs.
  const Problem problem = epilogue().parse_problem("1," + std::to_string(c.size()) + ",1,1,1");
  const std::vector<std::span<const float>> inputs = {c, b};
  const auto oracle = epilogue().oracle(problem, inputs);
  std::vector<Expectation> expected(c.size());
  oracle->expect(0, expected);

  const VariantInfo& info = GetParam()->info();
  const AcceptanceRule rule = rule_of(epilogue(), info.precision);
  for (const Configuration& configuration : info.parameters.all()) {
    std::vector<float> y(c.size(), 12345.0F);
    const auto plan = GetParam()->prepare(problem, configuration, *device_);
    plan->enqueue(
        TensorTable({const_cast<float*>(c.data()), const_cast<float*>(b.data()), y.data()}));
    for (std::size_t i = 0; i < c.size(); ++i) {
      EXPECT_TRUE(accepted(rule, expected[i], y[i]))
          << configuration.to_string() << ": c=" << c[i] << " b=" << b[i] << " gives " << y[i]
          << ", exact order " << expected[i].exact;
    }
  }
}

TEST_P(CpuVariant, IsRightAtEveryAlignmentOfEveryTensor) {
  const std::uint64_t seed = test::seed();
  const Problem problem = epilogue().parse_problem("2,3,1,5,29");
  const std::int64_t count = residual_epilogue::sizes_of(problem).elements();
  constexpr std::int64_t room = 16;
  std::vector<float> c(static_cast<std::size_t>(count + room));
  std::vector<float> b(3);
  std::vector<float> y(c.size());
  device_->generate(c.data(), count + room, {.stream = 1, .scale = 4.0F, .offset = -2.0F}, seed);
  device_->generate(b.data(), 3, {.stream = 4, .scale = 4.0F, .offset = -2.0F}, seed);
  const VariantInfo& info = GetParam()->info();
  const auto plan = GetParam()->prepare(problem, info.parameters.default_configuration(), *device_);
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      const std::vector<std::span<const float>> inputs = {
          std::span<const float>(c).subspan(static_cast<std::size_t>(from)), b};
      device_->poison(y.data(), count + room, seed);
      plan->enqueue(TensorTable({c.data() + from, b.data(), y.data() + to}));
      const std::span<const float> got(y.data() + to, static_cast<std::size_t>(count));
      const auto oracle = epilogue().oracle(problem, inputs);
      const Comparison comparison =
          compare(got, *oracle, rule_of(epilogue(), info.precision), seed);
      EXPECT_EQ(comparison.wrong, 0) << "c shifted by " << from << ", y by " << to << ": "
                                     << describe(comparison, {2, 3, 1, 5, 29});
      EXPECT_TRUE(std::isnan(y[static_cast<std::size_t>(to + count)])) << "wrote past the end";
    }
  }
}

TEST_P(CpuVariant, IsRightInEveryConfigurationAtEveryAwkwardSize) {
  const std::uint64_t seed = test::seed();
  const VariantInfo& info = GetParam()->info();
  LocalCandidate candidate(*device_);
  for (const Problem& problem : epilogue().awkward_problems(Battery::quick)) {
    Workbench bench(epilogue(), problem, seed, *device_);
    for (const Configuration& configuration : info.parameters.all()) {
      candidate.adopt(GetParam()->prepare(problem, configuration, *device_), bench.views());
      const Verdict verdict =
          verify_once(candidate, bench, *device_, rule_of(epilogue(), info.precision));
      EXPECT_TRUE(verdict.right) << configuration.to_string() << " at " << problem.to_string()
                                 << ": " << verdict.reason;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Epilogue, CpuVariant, testing::ValuesIn(cpu_variants()),
                         [](const auto& each) { return each.param->info().name; });

TEST(Variants, EachDeviceHasExactlyOneBaseline) {
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
    int baselines = 0;
    for (const Variant* variant : registry().variants(residual_epilogue::operator_name)) {
      baselines += variant->info().device == kind && variant->info().baseline;
    }
    EXPECT_EQ(baselines, 1) << to_string(kind);
  }
}

TEST(Variants, EachSaysItsIdeaInOneLine) {
  for (const Variant* variant : registry().variants(residual_epilogue::operator_name)) {
    EXPECT_FALSE(variant->info().idea.empty()) << variant->info().name;
    EXPECT_EQ(variant->info().idea.find('\n'), std::string::npos) << variant->info().name;
  }
}

}  // namespace
}  // namespace fusebench
