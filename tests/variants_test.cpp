// Every CPU variant of every operator at awkward sizes and at every alignment, through the plan itself; those
// of residual_epilogue on values that no random input holds as well. Catches contraction by the compiler,
// NaN and Inf handled by luck, and tails of rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/properties.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/device.hpp"
#include "harness/verify/acceptance.hpp"
#include "harness/verify/examiner.hpp"
#include "reference/residual_epilogue.hpp"
#include "tests/npy.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

using Variants = std::vector<const Variant*>;

const Operator& operator_of(const Variant& variant) {
  return registry().find_operator(variant.info().operator_name);
}

Variants cpu_variants(std::string_view operator_name) {
  Variants found = registry().variants(operator_name);
  std::erase_if(found, [](const Variant* v) { return v->info().device != DeviceKind::cpu; });
  return found;
}

Variants all_variants() {
  Variants found;
  for (const Operator* op : registry().operators()) {
    for (const Variant* variant : registry().variants(op->name())) found.push_back(variant);
  }
  return found;
}

Variants all_cpu_variants() {
  Variants found = all_variants();
  std::erase_if(found, [](const Variant* v) { return v->info().device != DeviceKind::cpu; });
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

class CpuEpilogue : public CpuVariant {};

TEST_P(CpuEpilogue, KeepsItsContractOnEveryPairOfSpecialValues) {
  const Operator& epilogue = operator_of(*GetParam());
  const std::string folder = test::golden_folder() + "/special/";
  const auto c = test::read_npy<float>(folder + "c.npy");
  const auto b = test::read_npy<float>(folder + "b.npy");
  // Each pair has a bias of its own: as many channels as pairs.
  const Problem problem = epilogue.parse_problem("1," + std::to_string(c.size()) + ",1,1,1");
  const std::vector<std::span<const float>> inputs = {c, b};
  const auto oracle = epilogue.oracle(problem, inputs);
  std::vector<Expectation> expected(c.size());
  oracle->expect(0, expected);

  const VariantInfo& info = GetParam()->info();
  const AcceptanceRule rule = rule_of(epilogue, info.precision);
  for (const Configuration& configuration :
       info.parameters.all(properties_of(problem, device_->traits()))) {
    // In place c is overwritten, so that it is y that is handed over as both.
    std::vector<float> y = c;
    float* const from = info.in_place == InPlace::only ? y.data() : const_cast<float*>(c.data());
    if (from != y.data()) std::fill(y.begin(), y.end(), 12345.0F);
    const auto plan = GetParam()->prepare(problem, configuration, *device_);
    plan->enqueue(TensorTable({from, const_cast<float*>(b.data()), y.data()}));
    for (std::size_t i = 0; i < c.size(); ++i) {
      EXPECT_TRUE(accepted(rule, expected[i], y[i]))
          << configuration.to_string() << ": c=" << c[i] << " b=" << b[i] << " gives " << y[i]
          << ", exact order " << expected[i].exact;
    }
  }
}

TEST_P(CpuVariant, IsRightAtEveryAlignmentOfEveryTensor) {
  const std::uint64_t seed = test::seed();
  const Operator& op = operator_of(*GetParam());
  const Problem problem = op.small_problems().front();
  const std::vector<TensorSpec> tensors = op.tensors(problem);
  constexpr std::int64_t room = 16;
  std::vector<std::vector<float>> memory;
  for (const TensorSpec& tensor : tensors) {
    const std::int64_t count = element_count(tensor.shape) + room;
    memory.emplace_back(static_cast<std::size_t>(count));
    if (tensor.role == TensorRole::input) {
      device_->generate(memory.back().data(), count, tensor.recipe, seed);
    }
  }
  const std::int64_t count = element_count(tensors.back().shape);
  std::vector<float>& y = memory.back();
  const VariantInfo& info = GetParam()->info();
  const auto plan = GetParam()->prepare(problem, info.parameters.default_configuration(), *device_);
  for (std::size_t from = 0; from < 4; ++from) {
    for (std::size_t to = 0; to < 4; ++to) {
      const bool in_place = info.in_place == InPlace::only;
      if (in_place && to != from) continue;
      std::vector<std::span<const float>> inputs;
      std::vector<void*> addresses;
      for (std::size_t i = 0; i + 1 < tensors.size(); ++i) {
        inputs.push_back(std::span<const float>(memory[i]).subspan(
            from, static_cast<std::size_t>(element_count(tensors[i].shape))));
        addresses.push_back(memory[i].data() + from);
      }
      addresses.push_back(y.data() + to);
      device_->poison(y.data(), count + room, seed);
      if (in_place) {
        std::copy(inputs[0].begin(), inputs[0].end(), y.begin() + static_cast<std::ptrdiff_t>(to));
        addresses.front() = addresses.back();
      }
      plan->enqueue(TensorTable(addresses));
      const std::span<const float> got(y.data() + to, static_cast<std::size_t>(count));
      const auto oracle = op.oracle(problem, inputs);
      const Comparison comparison = compare(got, *oracle, rule_of(op, info.precision), seed);
      EXPECT_EQ(comparison.wrong, 0) << "inputs shifted by " << from << ", y by " << to << ": "
                                     << describe(comparison, tensors.back().shape);
      EXPECT_TRUE(std::isnan(y[to + static_cast<std::size_t>(count)])) << "wrote past the end";
    }
  }
}

TEST_P(CpuVariant, IsRightInEveryConfigurationAtEveryAwkwardSize) {
  const std::uint64_t seed = test::seed();
  const Operator& op = operator_of(*GetParam());
  const VariantInfo& info = GetParam()->info();
  LocalCandidate candidate(*device_);
  for (const Problem& problem : op.awkward_problems(Battery::quick)) {
    if (GetParam()->refuses(problem)) continue;
    Workbench bench(op, problem, official_inputs(op, problem), placements(info.in_place).front(),
                    seed, *device_);
    for (const Configuration& configuration :
         info.parameters.all(properties_of(problem, device_->traits()))) {
      candidate.adopt(GetParam()->prepare(problem, configuration, *device_), bench.views());
      const Verdict verdict = verify_once(candidate, bench, *device_, rule_of(op, info.precision));
      EXPECT_TRUE(verdict.right) << configuration.to_string() << " at " << problem.to_string()
                                 << ": " << verdict.reason;
    }
  }
}

constexpr auto name_of = [](const testing::TestParamInfo<const Variant*>& each) {
  return each.param->info().operator_name + "_" + each.param->info().name;
};
INSTANTIATE_TEST_SUITE_P(All, CpuVariant, testing::ValuesIn(all_cpu_variants()), name_of);
INSTANTIATE_TEST_SUITE_P(All, CpuEpilogue,
                         testing::ValuesIn(cpu_variants(residual_epilogue::operator_name)),
                         name_of);

TEST(Variants, EachOperatorHasExactlyOneBaselineADevice) {
  for (const Operator* op : registry().operators()) {
    for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
      int baselines = 0;
      for (const Variant* variant : registry().variants(op->name())) {
        baselines += variant->info().device == kind && variant->info().baseline;
      }
      EXPECT_EQ(baselines, 1) << op->name() << " on " << to_string(kind);
    }
  }
}

TEST(Variants, EachSaysItsIdeaInOneLine) {
  for (const Variant* variant : all_variants()) {
    EXPECT_FALSE(variant->info().idea.empty()) << variant->info().name;
    EXPECT_EQ(variant->info().idea.find('\n'), std::string::npos) << variant->info().name;
  }
}

}  // namespace
}  // namespace fusebench
