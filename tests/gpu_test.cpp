// What only a GPU can show: the device's generator, poison and fingerprint are the CPU's bit for bit, every
// CUDA variant is right at every alignment and odd size, and a call that waits cannot be timed.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/core/error.hpp"
#include "harness/core/generator.hd.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/cuda/cuda_device.hpp"
#include "harness/verify/acceptance.hpp"
#include "harness/verify/control_operator.hpp"
#include "harness/verify/examiner.hpp"
#include "reference/residual_epilogue.hpp"
#include "tests/npy.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

const Operator& epilogue() { return registry().find_operator(residual_epilogue::operator_name); }

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    const DeviceStatus status = probe_device(DeviceKind::cuda);
    if (!status.traits) GTEST_SKIP() << status.reason;
    device_ = open_device(DeviceKind::cuda, {});
    cpu_ = open_device(DeviceKind::cpu, {});
  }
  std::unique_ptr<Device> device_;
  std::unique_ptr<Device> cpu_;
};

TEST_F(Gpu, GeneratesPoisonsAndFingerprintsAsTheCpuDoes) {
  const std::uint64_t seed = test::seed();
  constexpr std::int64_t count = 1'000'003;
  constexpr std::size_t bytes = count * sizeof(float);
  const Buffer there = device_->allocate(bytes);
  const Buffer here = cpu_->allocate(bytes);
  auto* const remote = static_cast<float*>(there.address());
  auto* const local = static_cast<float*>(here.address());
  for (const InputRecipe& recipe :
       {InputRecipe{.stream = 1}, InputRecipe{.stream = 4, .scale = 4, .offset = -2},
        InputRecipe{.stream = 2, .scale = 2, .offset = -1, .factor = 0.0123F}}) {
    device_->generate(remote, count, recipe, seed);
    cpu_->generate(local, count, recipe, seed);
    EXPECT_EQ(std::memcmp(device_->host_view(remote, bytes).data(), here.address(), bytes), 0);
    EXPECT_EQ(device_->fingerprint(remote, bytes), cpu_->fingerprint(local, bytes));
  }
  device_->poison(remote, count, seed);
  cpu_->poison(local, count, seed);
  EXPECT_EQ(std::memcmp(device_->host_view(remote, bytes).data(), here.address(), bytes), 0);
}

TEST_F(Gpu, ControlsMoveEveryByteAndNoMore) {
  for (const std::size_t bytes : {4, 12, 16, 4100, 1 << 20}) {
    const Buffer from = device_->allocate(bytes);
    const Buffer to = device_->allocate(bytes + 64);
    const auto words = static_cast<std::int64_t>(bytes / 4);
    device_->generate(static_cast<float*>(from.address()), words, {.stream = 1}, 7);
    for (const Control& control : device_->controls()) {
      device_->poison(static_cast<float*>(to.address()), words + 16, 9);
      std::vector<std::byte> tail(64);
      device_->download(tail.data(), static_cast<std::byte*>(to.address()) + bytes, 64);
      control.enqueue(to.address(), from.address(), bytes);
      device_->synchronise();
      std::vector<std::byte> after(64);
      device_->download(after.data(), static_cast<std::byte*>(to.address()) + bytes, 64);
      EXPECT_EQ(tail, after) << control.name << " wrote past " << bytes;
      if (control.streams == 2) {
        EXPECT_EQ(device_->fingerprint(to.address(), bytes),
                  device_->fingerprint(from.address(), bytes))
            << control.name << " at " << bytes;
      }
    }
  }
}

TEST_F(Gpu, EveryVariantIsRightAtEveryAlignmentAndOnSpecialValues) {
  const std::uint64_t seed = test::seed();
  const std::string folder = test::golden_folder() + "/special/";
  const auto c = test::read_npy<float>(folder + "c.npy");
  const auto b = test::read_npy<float>(folder + "b.npy");
  const Problem problem = epilogue().parse_problem("1," + std::to_string(c.size()) + ",1,1,1");
  const auto count = static_cast<std::int64_t>(c.size());
  const std::vector<std::span<const float>> inputs = {c, b};
  const auto oracle = epilogue().oracle(problem, inputs);
  const Buffer from = device_->allocate((c.size() + 16) * 4);
  const Buffer bias = device_->allocate(b.size() * 4);
  const Buffer to = device_->allocate((c.size() + 16) * 4);
  device_->upload(bias.address(), b.data(), b.size() * 4);
  for (const Variant* variant : registry().variants(residual_epilogue::operator_name)) {
    const VariantInfo& info = variant->info();
    if (info.device != DeviceKind::cuda || variant->unavailable(device_->traits())) continue;
    const auto plan = variant->prepare(problem, info.parameters.default_configuration(), *device_);
    for (int shift = 0; shift < 16; ++shift) {
      auto* const source = static_cast<float*>(from.address()) + shift % 4;
      const bool in_place = info.in_place == InPlace::only;
      if (in_place && shift / 4 > 0) break;
      auto* const target = in_place ? source : static_cast<float*>(to.address()) + shift / 4;
      device_->poison(target, count, seed);
      device_->upload(source, c.data(), c.size() * 4);
      try {
        plan->enqueue(TensorTable({source, bias.address(), target}));
      } catch (const Unavailable&) {
        continue;  // an explicit refusal of this alignment
      }
      device_->synchronise();
      std::vector<float> got(c.size());
      device_->download(got.data(), target, got.size() * 4);
      const Comparison comparison =
          compare(got, *oracle, rule_of(epilogue(), info.precision), seed);
      EXPECT_EQ(comparison.wrong, 0)
          << info.name << ", c shifted by " << shift % 4 << ", y by " << shift / 4 << ": "
          << describe(comparison, {1, count, 1, 1, 1});
    }
  }
}

TEST_F(Gpu, EveryVariantIsRightAtEveryAwkwardSizeInSomeConfigurations) {
  const std::uint64_t seed = test::seed();
  LocalCandidate candidate(*device_);
  for (const Operator* op : registry().operators()) {
    for (const Problem& problem : op->awkward_problems(Battery::quick)) {
      Workbench apart(*op, problem, seed, *device_);
      std::optional<Workbench> in_place;  // made where an operator's output can be its first input
      for (const Variant* variant : registry().variants(op->name())) {
        const VariantInfo& info = variant->info();
        if (info.device != DeviceKind::cuda || variant->unavailable(device_->traits())) continue;
        if (variant->refuses(problem)) continue;
        const Placement placement = placements(info.in_place).front();
        if (placement.in_place && !in_place) {
          in_place.emplace(*op, problem, official_inputs(*op, problem), placement, seed, *device_);
        }
        Workbench& bench = placement.in_place ? *in_place : apart;
        const auto all = info.parameters.all();
        for (const std::size_t k : std::set<std::size_t>{0, all.size() / 2, all.size() - 1}) {
          try {
            candidate.adopt(variant->prepare(problem, all[k], *device_), bench.views());
          } catch (const Unavailable&) {
            continue;  // does not fit this device
          }
          const Verdict verdict =
              verify_once(candidate, bench, *device_, rule_of(*op, info.precision));
          EXPECT_TRUE(verdict.right) << info.name << " " << all[k].to_string() << " at "
                                     << problem.to_string() << ": " << verdict.reason;
        }
      }
    }
  }
}

// A right output with a few wrong, unwritten and non-finite elements, on the device.
void upload_damaged(Device& device, Workbench& bench, const Operator& op, const Problem& problem,
                    const std::vector<std::vector<float>>& inputs, std::uint64_t seed) {
  const std::vector<std::span<const float>> views(inputs.begin(), inputs.end());
  const auto oracle = op.oracle(problem, views);
  const auto count = static_cast<std::size_t>(element_count(bench.output_spec().shape));
  std::vector<Expectation> expected(count);
  oracle->expect(0, expected);
  std::vector<float> y(count);
  device.download(y.data(), bench.tensors().output(), count * sizeof(float));  // the poison
  for (std::size_t i = 0; i < count; ++i) {
    switch (random_bits(seed, i) % 64) {
      case 0: break;  // stays unwritten
      case 1: y[i] = expected[i].exact + 1e-3F; break;
      case 2: y[i] = std::nextafter(expected[i].exact, 0.0F); break;
      case 3: y[i] = std::numeric_limits<float>::infinity(); break;
      case 4: y[i] = std::numeric_limits<float>::quiet_NaN(); break;
      default: y[i] = expected[i].exact;
    }
  }
  device.upload(bench.tensors().output(), y.data(), count * sizeof(float));
}

void expect_equal(const Tally& there, const Tally& here, const std::string& where) {
  EXPECT_EQ(there.compared, here.compared) << where;
  EXPECT_EQ(there.wrong, here.wrong) << where;
  EXPECT_EQ(there.unwritten, here.unwritten) << where;
  EXPECT_EQ(there.outside_1e4, here.outside_1e4) << where;
  EXPECT_EQ(there.bit_equal, here.bit_equal) << where;
  EXPECT_EQ(there.max_abs_error, here.max_abs_error) << where;
  EXPECT_EQ(there.max_rel_error, here.max_rel_error) << where;
  EXPECT_EQ(there.worst_index, here.worst_index) << where;
  EXPECT_EQ(there.worst_error, here.worst_error) << where;
}

TEST_F(Gpu, TalliesOnTheDeviceAsComparesOnTheHostForEveryInputSetAndRule) {
  const std::uint64_t seed = test::seed();
  for (const Operator* op : registry().operators()) {
    for (const Problem& problem : op->small_problems()) {
      std::vector<InputSet> sets = op->input_sets();
      sets.push_back(official_inputs(*op, problem));
      for (const InputSet& set : sets) {
        Workbench bench(*op, problem, set, {}, seed, *device_);
        bench.prepare();
        std::vector<std::vector<float>> inputs;
        const auto specs = op->tensors(problem);
        for (std::size_t t = 0; t < set.recipes.size(); ++t) {
          inputs.emplace_back(static_cast<std::size_t>(element_count(specs[t].shape)));
          device_->download(inputs[t].data(), bench.tensors().input(t),
                            inputs[t].size() * sizeof(float));
        }
        upload_damaged(*device_, bench, *op, problem, inputs, seed);
        for (const AcceptanceRule& rule :
             {AcceptanceRule{true, {}}, rule_of(*op, Precision::float32)}) {
          expect_equal(bench.tally_output(rule), bench.compare_output(rule),
                       std::string(op->name()) + " " + problem.to_string() + ", " + set.name);
        }
      }
    }
  }
}

TEST_F(Gpu, PlacesTensorsBetweenZonesThatTellWhatWasWritten) {
  for (const Placement& placement : placements(InPlace::also)) {
    PlacedTensor tensor(*device_, "y", 4100, placement, true);
    tensor.arm(5);
    EXPECT_EQ(tensor.broken(), std::nullopt) << placement.name;
    EXPECT_TRUE(tensor.region().guarded());
    if (placement.edge == Edge::end) continue;
    const float word = 1.0F;
    device_->upload(tensor.values() + 1025, &word, sizeof word);
    EXPECT_EQ(tensor.broken(), "tensor y: written 4 bytes past its end") << placement.name;
  }
}

TEST_F(Gpu, ALoadRunsBesideACallAndEnds) {
  auto load = device_->start_load();
  const Buffer buffer = device_->allocate(1 << 20);
  find_control(*device_, "fill").enqueue(buffer.address(), nullptr, buffer.bytes());
  device_->finish_call();  // returns although the load goes on
  load.reset();
  device_->synchronise();
}

TEST_F(Gpu, TalliesTheOfficialProblemsAndSaysHowLongItTook) {
  for (const Operator* op : registry().operators()) {
    const Problem problem = op->parse_problem("official");
    Workbench bench(*op, problem, test::seed(), *device_);
    const AcceptanceRule rule = rule_of(*op, Precision::float32);
    bench.prepare();
    (void)bench.tally_output(rule);
    double best_ms = 1e9;
    for (int i = 0; i < 5; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const Tally tally = bench.tally_output(rule);
      const auto end = std::chrono::steady_clock::now();
      best_ms = std::min(best_ms, std::chrono::duration<double, std::milli>(end - start).count());
      EXPECT_EQ(tally.unwritten, element_count(bench.output_spec().shape));
    }
    const std::string name(op->name());
    RecordProperty(name + "_best_ms", std::to_string(best_ms));
    std::printf("%s: the tally of %lld elements took %.3f ms\n", name.c_str(),
                static_cast<long long>(element_count(bench.output_spec().shape)), best_ms);
  }
}

TEST_F(Gpu, ACallThatWaitsForTheDeviceCannotBeTimed) {
  const auto stopwatch = device_->stopwatch();
  EXPECT_THROW((void)stopwatch->cold([&] { device_->synchronise(); }), Error);
  // and the stopwatch still works
  const Buffer buffer = device_->allocate(1 << 20);
  const Control fills = find_control(*device_, "fill");
  const auto fill = [&] { fills.enqueue(buffer.address(), nullptr, buffer.bytes()); };
  EXPECT_GT(stopwatch->cold(fill).ns, 0.0);
  EXPECT_GT(stopwatch->cold(fill).sm_clock_mhz, 100.0);
  EXPECT_GT(stopwatch->back_to_back(fill, 10), 0.0);
  EXPECT_TRUE(stopwatch->graph(fill, 10).has_value());
}

TEST_F(Gpu, MemoryThatIsNotThereIsUnavailable) {
  EXPECT_THROW((void)device_->allocate(std::size_t{1} << 50), Unavailable);
}

}  // namespace
}  // namespace fusebench
