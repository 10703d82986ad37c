// The parts of the CUDA device that need no device. Catches a quotient that is one off, a grid that does not
// fit, a resource report misread, and kernels taken from a cache that a dying run left torn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "harness/core/error.hpp"
#include "harness/device/cuda/compiler.hpp"
#include "harness/device/cuda/cuda_device.hpp"
#include "harness/device/cuda/kernel_cache.hpp"
#include "harness/device/cuda/tensor_map.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
namespace fs = std::filesystem;

// quotient() of kernels/fast_divisor.cuh, with the device's two multiplications written out.
std::uint64_t quotient(const FastDivisor& by, std::uint64_t n) {
  if (by.narrow != 0 && n >> 31U == 0) {
    const auto d = static_cast<std::uint32_t>(by.divisor);
    const auto m = static_cast<std::uint32_t>(n);
    const auto q = static_cast<std::uint32_t>((std::uint64_t{m} * by.narrow) >> 32U);
    return q + (m - q * d >= d ? 1U : 0U);
  }
  __extension__ using Wide = unsigned __int128;
  const auto q = static_cast<std::uint64_t>((Wide{n} * by.magic) >> 64U);
  return q + (n - q * by.divisor >= by.divisor ? 1U : 0U);
}

constexpr std::uint64_t most = (std::uint64_t{1} << 63U) - 1;
constexpr std::uint64_t two31 = std::uint64_t{1} << 31U;

TEST(TensorMap, IsNotToBeHadWithoutADriverThatMakesIt) {
  static_assert(sizeof(TensorMap) == 128 && alignof(TensorMap) == 64);
  if (have_tensor_maps()) GTEST_SKIP() << "this driver makes them";
  EXPECT_THROW((void)tensor_map({}), Unavailable);
}

TEST(FastDivisor, IsExactAtTheEdgesOfEachQuotientAndAtRandom) {
  std::mt19937_64 random(test::seed());
  std::vector<std::uint64_t> divisors = {1,
                                         2,
                                         3,
                                         5,
                                         7,
                                         64,
                                         231,
                                         131072,
                                         65'535,
                                         65'537,
                                         two31 - 1,
                                         two31,
                                         two31 + 1,
                                         (std::uint64_t{1} << 32U) - 1,
                                         std::uint64_t{1} << 32U,
                                         (std::uint64_t{1} << 40U) + 7,
                                         std::uint64_t{1} << 62U,
                                         most - 1,
                                         most};
  for (int i = 0; i < 200; ++i) divisors.push_back((random() >> (1 + random() % 62)) | 1U);
  for (const std::uint64_t d : divisors) {
    const FastDivisor by(static_cast<std::int64_t>(d));
    std::vector<std::uint64_t> numbers = {0, 1, 2, two31 - 1, two31, two31 + 1, most - 1, most};
    for (const std::uint64_t near : {d, most / d * d, two31 / d * d, most / 2 / d * d}) {
      for (const std::uint64_t n : {near - 1, near, near + 1}) {
        if (n <= most) numbers.push_back(n);
      }
    }
    for (int i = 0; i < 300; ++i) numbers.push_back(random() >> (1 + random() % 62));
    for (const std::uint64_t n : numbers) ASSERT_EQ(quotient(by, n), n / d) << n << " / " << d;
  }
}

TEST(FastDivisor, TakesTheNarrowWayOnlyForDivisorsUnder2To31) {
  EXPECT_NE(FastDivisor(two31 - 1).narrow, 0U);
  EXPECT_EQ(FastDivisor(two31).narrow, 0U);
  EXPECT_EQ(FastDivisor(std::int64_t{1} << 32).narrow, 0U);
  EXPECT_EQ(sizeof(FastDivisor), 24U);  // as the kernels lay it out
}

TEST(BlocksFor, CoversTheWorkWithAtLeastOneBlock) {
  EXPECT_EQ(blocks_for(0, 256), 1U);
  EXPECT_EQ(blocks_for(1, 256), 1U);
  EXPECT_EQ(blocks_for(256, 256), 1U);
  EXPECT_EQ(blocks_for(257, 256), 2U);
  EXPECT_EQ(blocks_for(std::int64_t{1} << 32, 1024), 1U << 22U);
}

TEST(BlocksFor, FillsAGridToItsLimitAndRefusesOneBlockMore) {
  constexpr std::int64_t grid = (std::int64_t{1} << 31) - 1;
  EXPECT_EQ(blocks_for(grid, 1), static_cast<std::uint32_t>(grid));
  EXPECT_EQ(blocks_for(grid * 256, 256), static_cast<std::uint32_t>(grid));
  EXPECT_THAT([] { (void)blocks_for(grid * 256 + 1, 256); },
              ThrowsMessage<Unavailable>(HasSubstr("2147483648 blocks")));
  EXPECT_THROW((void)blocks_for(std::int64_t{1} << 60, 1024), Unavailable);
}

TEST(CudaDevice, IsNotTakenForACpu) {
  const auto cpu = open_device(DeviceKind::cpu, {});
  EXPECT_THAT([&] { (void)cuda_device(*cpu); },
              ThrowsMessage<Error>(HasSubstr(cpu->traits().name)));
}

// Printed by NVRTC 13.0 for three kernels, the last of which calls a function that is not inlined.
constexpr const char* nvrtc_13_log = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'third' for 'sm_90'
ptxas info    : Function properties for third
ptxas         .     384 bytes stack frame, 420 bytes spill stores, 424 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 384 bytes cumulative stack size
ptxas info    : Compile time = 56.755 ms
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
ptxas info    : Compile time = 1.559 ms
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
ptxas         .     160 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 39 registers, used 1 barriers, 160 bytes cumulative stack size, 1024 bytes smem
ptxas info    : Compile time = 10.643 ms
ptxas info    : Function properties for _Z6helperfPf
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
)";

TEST(PtxasReport, ReadsEveryEntryWithItsOwnFigures) {
  const auto found = parse_ptxas_report(nvrtc_13_log);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].entry, "third");
  EXPECT_EQ(found[0].registers, 64);
  EXPECT_EQ(found[0].shared_bytes, 0);
  EXPECT_EQ(found[0].stack_bytes, 384);
  EXPECT_EQ(found[0].spill_store_bytes, 420);
  EXPECT_EQ(found[0].spill_load_bytes, 424);
  EXPECT_EQ(found[1].entry, "second");
  EXPECT_EQ(found[1].registers, 8);
  EXPECT_EQ(found[1].stack_bytes, 0);
  EXPECT_EQ(found[1].spill_store_bytes, 0);
  EXPECT_EQ(found[2].entry, "first");
  EXPECT_EQ(found[2].registers, 39);
  EXPECT_EQ(found[2].shared_bytes, 1024);
}

TEST(PtxasReport, DoesNotTakeACalledFunctionsFrameForTheEntrys) {
  EXPECT_EQ(parse_ptxas_report(nvrtc_13_log).at(2).stack_bytes, 160);
}

TEST(PtxasReport, ReadsTheFormOfOlderVersions) {
  const auto found = parse_ptxas_report(
      "ptxas info    : 8 bytes gmem, 4 bytes cmem[3]\n"
      "ptxas info    : Compiling entry function '_Z4copyPf' for 'sm_80'\n"
      "ptxas info    : Function properties for _Z4copyPf\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 255 registers, 49152 bytes smem, 380 bytes cmem[0]\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].entry, "_Z4copyPf");
  EXPECT_EQ(found[0].registers, 255);
  EXPECT_EQ(found[0].shared_bytes, 49152);
}

TEST(PtxasReport, OfNothingIsEmpty) {
  EXPECT_TRUE(parse_ptxas_report("").empty());
  EXPECT_TRUE(parse_ptxas_report("warning: something else\nUsed 3 registers\n").empty());
}

TEST(HashOf, DependsOnEveryPartAndOnWhereOneEnds) {
  const std::set<std::string> hashes = {
      hash_of({}),          hash_of({""}),        hash_of({"", ""}),
      hash_of({"ab", "c"}), hash_of({"a", "bc"}), hash_of({"abc"}),
      hash_of({"c", "ab"}), hash_of({"abd"}),     hash_of({std::string_view("ab\0", 3)})};
  EXPECT_EQ(hashes.size(), 9U);
  EXPECT_EQ(hash_of({"abc"}), hash_of({"abc"}));
  for (const std::string& hash : hashes) {
    EXPECT_EQ(hash.size(), 32U);
    EXPECT_EQ(hash.find_first_not_of("0123456789abcdef"), std::string::npos);
  }
}

class KernelCacheTest : public testing::Test {
 protected:
  KernelCacheTest() {
    std::string pattern = (fs::temp_directory_path() / "fusebench-test-XXXXXX").string();
    const char* made = mkdtemp(pattern.data());
    if (made != nullptr) folder_ = made;
  }
  void SetUp() override { ASSERT_FALSE(folder_.empty()) << "no temporary folder"; }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string stored() const {
    std::ifstream file(folder_ / "deep/kernels/key", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void store(const std::string& text) const {
    std::ofstream(folder_ / "deep/kernels/key", std::ios::binary) << text;
  }

  fs::path folder_;
  const KernelCache::Entry entry_ = {"a log\nof two lines\n", std::string("\x7F"
                                                                          "ELF\0\n\xFF",
                                                                          7)};
};

TEST_F(KernelCacheTest, FindsWhatItKeptBitForBitAndNothingElse) {
  const KernelCache cache((folder_ / "deep/kernels").string());
  EXPECT_FALSE(cache.find("key").has_value());
  cache.keep("key", entry_);
  const auto found = cache.find("key");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->log, entry_.log);
  EXPECT_EQ(found->cubin, entry_.cubin);
  EXPECT_FALSE(cache.find("other").has_value());
  cache.keep("key", {"", "newer"});
  EXPECT_EQ(cache.find("key").value().cubin, "newer");
  // Nothing but the entry is left lying about.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "deep/kernels"), {}), 1);
}

TEST_F(KernelCacheTest, TakesNoEntryThatIsTornAtAnyByte) {
  const KernelCache cache((folder_ / "deep/kernels").string());
  cache.keep("key", entry_);
  const std::string whole = stored();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    store(whole.substr(0, size));
    EXPECT_FALSE(cache.find("key").has_value()) << size << " of " << whole.size() << " bytes";
  }
  store(whole + "x");
  EXPECT_FALSE(cache.find("key").has_value());
  store(whole);
  EXPECT_TRUE(cache.find("key").has_value());
}

TEST_F(KernelCacheTest, TakesNoEntryOfWhichAnyByteWasChanged) {
  const KernelCache cache((folder_ / "deep/kernels").string());
  cache.keep("key", entry_);
  const std::string whole = stored();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    store(changed);
    EXPECT_FALSE(cache.find("key").has_value()) << "byte " << i;
  }
}

TEST_F(KernelCacheTest, CostsOnlyTheEntryWhereNothingCanBeKept) {
  const KernelCache nowhere("");
  EXPECT_NO_THROW(nowhere.keep("key", entry_));
  EXPECT_FALSE(nowhere.find("key").has_value());
  std::ofstream(folder_ / "file") << "no folder";
  const KernelCache blocked((folder_ / "file").string());
  EXPECT_NO_THROW(blocked.keep("key", entry_));
  EXPECT_FALSE(blocked.find("key").has_value());
}

}  // namespace
}  // namespace fusebench
