// What only a GPU can show: the device's generator, poison and fingerprint are the CPU's bit for bit, every
// CUDA variant is right at every alignment and odd size, and a call that waits cannot be timed.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/cuda/cuda_device.hpp"
#include "harness/verify/acceptance.hpp"
#include "harness/verify/verifier.hpp"
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
    const ErrorBound bound =
        info.precision == Precision::exact_order ? ErrorBound{} : epilogue().bound(info.precision);
    for (int shift = 0; shift < 16; ++shift) {
      auto* const source = static_cast<float*>(from.address()) + shift % 4;
      auto* const target = static_cast<float*>(to.address()) + shift / 4;
      device_->upload(source, c.data(), c.size() * 4);
      device_->poison(target, count, seed);
      plan->enqueue(TensorTable({source, bias.address(), target}));
      device_->synchronise();
      std::vector<float> got(c.size());
      device_->download(got.data(), target, got.size() * 4);
      const Comparison comparison = compare(got, *oracle, info.precision, bound, seed);
      EXPECT_EQ(comparison.wrong, 0)
          << info.name << ", c shifted by " << shift % 4 << ", y by " << shift / 4 << ": "
          << describe(comparison, {1, count, 1, 1, 1});
    }
  }
}

TEST_F(Gpu, EveryVariantIsRightAtEveryOddSizeInSomeConfigurations) {
  const std::uint64_t seed = test::seed();
  for (const Problem& problem : epilogue().odd_problems()) {
    Workbench bench(epilogue(), problem, seed, *device_);
    for (const Variant* variant : registry().variants(residual_epilogue::operator_name)) {
      const VariantInfo& info = variant->info();
      if (info.device != DeviceKind::cuda || variant->unavailable(device_->traits())) continue;
      const auto all = info.parameters.all();
      for (std::size_t k = 0; k < all.size(); k += 1 + all.size() / 5) {
        std::unique_ptr<Plan> plan;
        try {
          plan = variant->prepare(problem, all[k], *device_);
        } catch (const Unavailable&) {
          continue;  // does not fit this device
        }
        const Verdict verdict = verify_once(*plan, bench, *device_, info.precision);
        EXPECT_TRUE(verdict.right) << info.name << " " << all[k].to_string() << " at "
                                   << problem.to_string() << ": " << verdict.reason;
      }
    }
  }
}

TEST_F(Gpu, ACallThatWaitsForTheDeviceCannotBeTimed) {
  const auto stopwatch = device_->stopwatch();
  EXPECT_THROW((void)stopwatch->cold([&] { device_->synchronise(); }), Error);
  // and the stopwatch still works
  const Buffer buffer = device_->allocate(1 << 20);
  const std::vector<Control> controls = device_->controls();
  const auto fill = [&] { controls.back().enqueue(buffer.address(), nullptr, buffer.bytes()); };
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
