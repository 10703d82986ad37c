// The CPU as a device: plain memory, a monotonic clock, caches flushed by writing over them.
#include <sys/mman.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

#include "harness/core/error.hpp"
#include "harness/core/generator.hd.hpp"
#include "harness/device/cpu/cpu_info.hpp"
#include "harness/device/cpu/cpu_load.hpp"
#include "harness/device/cpu/cpu_region.hpp"
#include "harness/device/cpu/fill_memory.hpp"
#include "harness/device/cpu/fma_chains.hpp"
#include "harness/device/cpu/stream_memory.hpp"
#include "harness/device/cpu/thread_pool.hpp"
#include "harness/device/device.hpp"

namespace fusebench {
namespace {

constexpr std::int64_t grain = 4096;
constexpr std::int64_t line = 64;

double elapsed_ns(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

Buffer allocate_pages(std::size_t bytes) {
  // Huge pages keep TLB misses, and so the luck of the page tables, out of the timings.
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const std::size_t rounded = (bytes + huge_page - 1) / huge_page * huge_page;
  void* address = std::aligned_alloc(huge_page, rounded == 0 ? huge_page : rounded);
  if (address == nullptr) throw Unavailable("no memory for {} more bytes", bytes);
  (void)madvise(address, rounded, MADV_HUGEPAGE);
  return {address, bytes, [](void* p) { std::free(p); }};
}

class CpuStopwatch final : public Stopwatch {
 public:
  explicit CpuStopwatch(std::int64_t cache_bytes)
      : eraser_(allocate_pages(static_cast<std::size_t>(2 * cache_bytes))) {}

  Lap cold(const std::function<void()>& call, const std::function<void()>& about_to_run) override {
    // Written rather than read: the call then pays for writing back lines that are not its own, as
    // its own last lines are written back after it. In a steady state the two are equal.
    // One ordinary store a line: a large memset may go past the caches and evict nothing.
    ++round_;
    auto* const bytes = static_cast<volatile char*>(eraser_.address());
    shared_pool().for_ranges(static_cast<std::int64_t>(eraser_.bytes()), grain,
                             [&](std::int64_t begin, std::int64_t end) {
                               for (std::int64_t i = begin; i < end; i += line) bytes[i] = round_;
                             });
    if (about_to_run) about_to_run();
    const auto start = std::chrono::steady_clock::now();
    call();
    return {elapsed_ns(start), 0.0};
  }

  double back_to_back(const std::function<void()>& call, int count) override {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) call();
    return elapsed_ns(start) / count;
  }

  std::optional<double> graph(const std::function<void()>&, int) override { return std::nullopt; }

 private:
  Buffer eraser_;
  char round_ = 0;
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const DeviceOptions& options) : traits_(read_cpu_traits()) {
    if (options.pin_threads) pin_shared_pool();
  }

  const DeviceTraits& traits() const override { return traits_; }
  Buffer allocate(std::size_t bytes) override { return allocate_pages(bytes); }
  void upload(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  std::span<const std::byte> host_view(const void* address, std::size_t bytes) override {
    return {static_cast<const std::byte*>(address), bytes};
  }

  std::unique_ptr<Region> make_region(std::size_t bytes, bool others_may_write) override {
    return make_cpu_region(bytes, others_may_write);
  }
  std::unique_ptr<Region> open_region(int descriptor, std::size_t bytes, bool writable) override {
    return open_cpu_region(descriptor, bytes, writable);
  }

  void generate(float* to, std::int64_t count, const InputRecipe& recipe,
                std::uint64_t seed) override {
    generate_values(to, count, recipe, stream_of(seed, recipe));
  }

  void poison(float* to, std::int64_t count, std::uint64_t seed) override {
    poison_values(to, count, seed);
  }

  std::vector<std::uint64_t> fingerprints(std::span<const MemoryRange> ranges) override {
    std::vector<std::uint64_t> sums;
    for (const MemoryRange& range : ranges) sums.push_back(fingerprint_of(range));
    return sums;
  }

  void quiesce() override { shared_pool().rest(); }
  void synchronise() override {}
  void finish_call() override {}
  std::unique_ptr<Load> start_load() override { return start_cpu_load(); }

  std::unique_ptr<Stopwatch> stopwatch() override {
    return std::make_unique<CpuStopwatch>(traits_.cache_bytes);
  }

  std::vector<Control> controls() override {
    const auto in_ranges = [](std::size_t bytes, auto body) {
      shared_pool().for_ranges(static_cast<std::int64_t>(bytes), grain,
                               [&](std::int64_t begin, std::int64_t end) {
                                 body(begin, static_cast<std::size_t>(end - begin));
                               });
    };
    const auto at = [](auto* address, std::int64_t offset) {
      using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(address)>>,
                                      const std::byte, std::byte>;
      return static_cast<Byte*>(address) + offset;
    };
    return {
        {"copy", "all cores, non-temporal stores", 2, 0,
         [=](void* to, const void* from, std::size_t bytes) {
           in_ranges(bytes, [&](std::int64_t begin, std::size_t size) {
             stream_copy(at(to, begin), at(from, begin), size);
           });
         }},
        {"memcpy", "all cores, the C library's memcpy", 2, 0,
         [=](void* to, const void* from, std::size_t bytes) {
           in_ranges(bytes, [&](std::int64_t begin, std::size_t size) {
             std::memcpy(at(to, begin), at(from, begin), size);
           });
         }},
        {"fill", "all cores, non-temporal stores", 1, 0,
         [=](void* to, const void*, std::size_t bytes) {
           in_ranges(bytes, [&](std::int64_t begin, std::size_t size) {
             stream_fill(at(to, begin), fill_word, size);
           });
         }},
        {"fma", "all cores, float32 FMAs in the widest vectors", 2, 2 * fma_steps,
         [](void* to, const void* from, std::size_t bytes) {
           auto* const target = static_cast<float*>(to);
           const auto* const source = static_cast<const float*>(from);
           const auto count = static_cast<std::int64_t>(bytes / sizeof(float));
           shared_pool().for_ranges(count, grain / static_cast<std::int64_t>(sizeof(float)),
                                    [&](std::int64_t begin, std::int64_t end) {
                                      fma_chains(target + begin, source + begin, end - begin, {});
                                    });
         }},
    };
  }

  std::optional<double> temperature_c() override { return std::nullopt; }

 private:
  DeviceTraits traits_;
};

}  // namespace

DeviceStatus probe_cpu() { return {read_cpu_traits(), ""}; }

std::unique_ptr<Device> open_cpu(const DeviceOptions& options) {
  return std::make_unique<CpuDevice>(options);
}

}  // namespace fusebench
