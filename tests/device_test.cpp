// The thread pool and the CPU as a device. Catches elements done twice or never, exceptions lost in threads,
// inputs that differ from the generator's, and controls that move too little or write past their end.
#include "harness/device/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>

#include "harness/core/error.hpp"
#include "harness/core/generator.hd.hpp"
#include "harness/device/cpu/fma_chains.hpp"
#include "harness/device/cpu/stream_memory.hpp"
#include "harness/device/cpu/thread_pool.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ThreadPool, RunsEveryIndexOnceOnAThreadOfItsOwn) {
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    ASSERT_EQ(pool.size(), threads);
    for (int count = 1; count <= threads; ++count) {
      std::mutex mutex;
      std::multiset<int> indices;
      std::set<std::thread::id> ids;
      pool.run(count, [&](int index) {
        const std::lock_guard lock(mutex);
        indices.insert(index);
        ids.insert(std::this_thread::get_id());
      });
      ASSERT_EQ(indices.size(), static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i) EXPECT_EQ(indices.count(i), 1U);
      EXPECT_EQ(ids.size(), static_cast<std::size_t>(count));
    }
  }
}

TEST(ThreadPool, LosesNoRunWhenManyShortOnesOfChangingWidthFollowEachOther) {
  ThreadPool pool(4);
  std::atomic<int> calls = 0;
  int expected = 0;
  for (int i = 0; i < 5000; ++i) {
    const int count = 1 + i % 4;
    pool.run(count, [&](int) { ++calls; });
    expected += count;
    ASSERT_EQ(calls, expected) << i;  // all done when run() returns, not later
  }
}

TEST(ThreadPool, RethrowsAnExceptionOfAnyThreadAndStaysUsable) {
  ThreadPool pool(3);
  for (int thrower = 0; thrower < 3; ++thrower) {
    std::atomic<int> others = 0;
    EXPECT_THAT(
        [&] {
          pool.run(3, [&](int index) {
            if (index == thrower) throw std::runtime_error("from " + std::to_string(index));
            ++others;
          });
        },
        ThrowsMessage<std::runtime_error>("from " + std::to_string(thrower)));
    EXPECT_EQ(others, 2);
    std::atomic<int> calls = 0;
    EXPECT_NO_THROW(pool.run(3, [&](int) { ++calls; }));
    EXPECT_EQ(calls, 3);
  }
  EXPECT_THROW(pool.run(3, [](int) { throw Error("every one"); }), Error);
}

TEST(ThreadPool, RefusesMoreThanItHasAndNone) {
  ThreadPool pool(2);
  EXPECT_THROW(pool.run(3, [](int) {}), Error);
  EXPECT_THROW(pool.run(0, [](int) {}), Error);
  EXPECT_THROW(ThreadPool(0), Error);
}

TEST(ForRanges, CoversEveryElementOnceWithBordersAtTheGrain) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (const std::int64_t total : {0, 1, 2, 6, 7, 63, 64, 65, 4095, 4097, 10'007}) {
      for (const std::int64_t grain : {1, 7, 64, 4096}) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(total));
        std::atomic<int> misplaced = 0;
        pool.for_ranges(total, grain, [&](std::int64_t begin, std::int64_t end) {
          misplaced += begin >= end || begin % grain != 0 || (end % grain != 0 && end != total);
          for (std::int64_t i = begin; i < end; ++i) ++visits.at(static_cast<std::size_t>(i));
        });
        EXPECT_EQ(misplaced, 0) << total << " by " << grain << " on " << threads;
        for (const auto& count : visits) ASSERT_EQ(count, 1) << total << " by " << grain;
      }
    }
  }
}

class Cpu : public testing::Test {
 protected:
  std::unique_ptr<Device> device_ = open_device(DeviceKind::cpu, {});
};

// Odd, and large enough for every thread to have a part.
constexpr std::int64_t many = 200'003;

TEST_F(Cpu, GeneratesTheGeneratorsValuesAtEveryOffsetAndNothingPastThem) {
  const InputRecipe recipe = {.stream = 4, .scale = 4.0F, .offset = -2.0F, .factor = 0.1F};
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{4097}, many}) {
    std::vector<float> values(static_cast<std::size_t>(count) + 1, 77.0F);
    device_->generate(values.data(), count, recipe, 42);
    EXPECT_EQ(values.back(), 77.0F);
    values.pop_back();
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(values[i], input_value(recipe, 424, i, values.size())) << i;
    }
  }
}

TEST_F(Cpu, PoisonsEveryElementAndNothingPastThem) {
  std::vector<float> values(many + 1, 77.0F);
  device_->poison(values.data(), many, 5);
  for (std::size_t i = 0; i < many; ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]), poison_bits(5, i)) << i;
  }
  EXPECT_EQ(values.back(), 77.0F);
}

TEST_F(Cpu, FingerprintIsTheSumOfTheTermsHoweverManyThreadsAdd) {
  std::vector<std::uint32_t> words(many);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = static_cast<std::uint32_t>(random_bits(1, i));
    sum += fingerprint_term(i, words[i]);
  }
  EXPECT_EQ(device_->fingerprint(words.data(), 4 * words.size()), sum);
  EXPECT_EQ(device_->fingerprint(words.data(), 4), fingerprint_term(0, words[0]));
  EXPECT_EQ(device_->fingerprint(words.data(), 0), 0U);
}

TEST_F(Cpu, FingerprintSeesOneBitAndTwoWordsChangingPlaces) {
  std::vector<std::uint32_t> words(many, 0);
  for (std::size_t i = 0; i < words.size(); i += 3) words[i] = static_cast<std::uint32_t>(i);
  const auto print = [&] { return device_->fingerprint(words.data(), 4 * words.size()); };
  const std::uint64_t before = print();
  std::mt19937_64 random(test::seed());
  std::vector<std::size_t> places = {0, many - 1};
  for (int i = 0; i < 20; ++i) places.push_back(random() % many);
  for (const std::size_t place : places) {
    const std::uint32_t bit = 1U << random() % 32U;
    words[place] ^= bit;
    EXPECT_NE(print(), before) << "bit " << bit << " of word " << place;
    words[place] ^= bit;
    const std::size_t other = (place + 1) % many;
    if (words[place] == words[other]) continue;
    std::swap(words[place], words[other]);
    EXPECT_NE(print(), before) << "words " << place << " and " << other;
    std::swap(words[place], words[other]);
  }
  EXPECT_EQ(print(), before);
}

// The bytes that stand before and after what may be written.
constexpr std::size_t margin = 256;

std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t stream) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(random_bits(stream, i));
  return bytes;
}

TEST_F(Cpu, ControlsMoveExactlyTheirBytes) {
  std::set<std::string> names;
  for (const Control& control : device_->controls()) {
    names.insert(control.name);
    EXPECT_EQ(control.streams, control.name == "fill" ? 1 : 2);
    EXPECT_EQ(control.flops_a_float, control.name == "fma" ? 2 * fma_steps : 0);
    for (const std::size_t bytes : {4U, 12U, 60U, 64U, 4096U, 4100U, 1'000'012U}) {
      std::vector<std::byte> from = random_bytes(bytes, 1);
      if (control.name ==
          "fma") {  // of any sign and digits, near 1: what doubling does not make infinite
        for (std::size_t i = 3; i < bytes; i += 4) {
          from[i] = (from[i] & std::byte{0x80}) | std::byte{0x3F};
        }
      }
      std::vector<std::byte> to = random_bytes(bytes + 2 * margin, 2);
      std::vector<std::byte> expected = to;
      for (std::size_t i = 0; i < bytes; ++i) {
        expected[margin + i] =
            control.streams == 2 ? from[i] : static_cast<std::byte>(fill_word >> (8 * (i % 4)));
      }
      control.enqueue(to.data() + margin, from.data(), bytes);
      device_->synchronise();
      EXPECT_TRUE(to == expected) << control.name << " of " << bytes << " bytes";
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"copy", "memcpy", "fill", "fma"}));
}

TEST(FmaChains, GiveEachFloatAllItsStepsAndOnlyThoseFloats) {
  for (const std::int64_t count : {0, 1, 7, 16, 127, 128, 129, 1000}) {
    std::vector<float> from(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
    std::vector<float> to(from.size() + 1, -1.0F);
    fma_chains(to.data(), from.data(), count, {.up = 1.0F, .down = 1.0F, .nothing = 1.0F});
    for (std::size_t i = 0; i < from.size(); ++i) {
      ASSERT_EQ(to[i], from[i] + static_cast<float>(fma_steps)) << i << " of " << count;
    }
    EXPECT_EQ(to.back(), -1.0F) << count;
  }
}

TEST(FmaChains, LeaveEveryFloatAsItIs) {
  const std::vector<float> from = {0.0F, -0.0F, 1.0F, -0.75F, 0x1p-149F, -0x1.8p-127F, 0x1p126F};
  std::vector<float> to(from.size());
  fma_chains(to.data(), from.data(), static_cast<std::int64_t>(from.size()), {});
  EXPECT_EQ(std::memcmp(to.data(), from.data(), from.size() * sizeof(float)), 0);
}

TEST(StreamCopy, CopiesExactlyWhateverTheAlignmentOfEitherEnd) {
  const std::vector<std::byte> from = random_bytes(1024, 1);
  for (std::size_t shift = 0; shift < 65; ++shift) {
    for (const std::size_t bytes : {0U, 1U, 3U, 63U, 64U, 65U, 127U, 130U, 257U, 513U}) {
      std::vector<std::byte> to = random_bytes(1024, 2);
      std::vector<std::byte> expected = to;
      std::memcpy(expected.data() + shift, from.data() + 64 - shift % 7, bytes);
      stream_copy(to.data() + shift, from.data() + 64 - shift % 7, bytes);
      ASSERT_TRUE(to == expected) << bytes << " bytes, shifted by " << shift;
    }
  }
}

TEST(StreamFill, FillsExactlyWhateverTheAlignmentOfEitherEnd) {
  const std::uint32_t word = 0x01234567U;
  for (std::size_t shift = 0; shift <= 64; shift += 4) {
    for (std::size_t bytes = 0; bytes <= 260; bytes += 4) {
      std::vector<std::byte> to = random_bytes(512, 2);
      std::vector<std::byte> expected = to;
      for (std::size_t i = 0; i < bytes; i += 4) {
        std::memcpy(expected.data() + shift + i, &word, sizeof word);
      }
      stream_fill(to.data() + shift, word, bytes);
      ASSERT_TRUE(to == expected) << bytes << " bytes, shifted by " << shift;
    }
  }
}

TEST_F(Cpu, AllocatesForEverySizeAlignedTo256Bytes) {
  for (const std::size_t bytes : {0U, 1U, 4U, 5'000'000U}) {
    const Buffer buffer = device_->allocate(bytes);
    ASSERT_NE(buffer.address(), nullptr) << bytes;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.address()) % 256, 0U);
    EXPECT_EQ(buffer.bytes(), bytes);
  }
}

TEST_F(Cpu, RefusesMoreMemoryThanAnyMachineHas) {
  EXPECT_THAT([&] { (void)device_->allocate(std::size_t{1} << 60U); },
              ThrowsMessage<Unavailable>(HasSubstr("1152921504606846976")));
}

TEST_F(Cpu, StopwatchCallsAsOftenAsAskedAndSeesTheWholeCall) {
  const auto stopwatch = device_->stopwatch();
  int calls = 0;
  const auto nap = [&] {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  };
  // A sleep lasts as long as asked or longer, on the same clock.
  EXPECT_GE(stopwatch->cold(nap).ns, 2e6);
  EXPECT_EQ(calls, 1);
  EXPECT_GE(stopwatch->back_to_back(nap, 4), 2e6);
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(stopwatch->graph(nap, 3), std::nullopt);
}

TEST_F(Cpu, KnowsItself) {
  const DeviceTraits& traits = device_->traits();
  EXPECT_EQ(traits.kind, DeviceKind::cpu);
  EXPECT_NE(traits.name, "");
  EXPECT_GT(traits.processors, 0);
  EXPECT_GT(traits.cache_bytes, 0);
  EXPECT_GT(traits.memory_bytes, traits.cache_bytes);
  EXPECT_EQ(traits.architecture.has_value(), false);
  EXPECT_EQ(probe_device(DeviceKind::cpu).traits.value().name, traits.name);
}

}  // namespace
}  // namespace fusebench
