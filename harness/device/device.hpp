// A device: memory, the harness's own kernels on it, a stopwatch, and the controls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/core/device_traits.hpp"
#include "harness/core/tensor.hpp"
#include "harness/device/region.hpp"

namespace fusebench {

/// Device memory that frees itself. `address` is aligned to 256 bytes at least.
class Buffer {
 public:
  Buffer() = default;
  Buffer(void* address, std::size_t bytes, std::function<void(void*)> release)
      : address_(address, std::move(release)), bytes_(bytes) {}
  [[nodiscard]] void* address() const noexcept { return address_.get(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::unique_ptr<void, std::function<void(void*)>> address_{nullptr, [](void*) {}};
  std::size_t bytes_ = 0;
};

/// `bytes` bytes at an address of a device, a multiple of 4 both.
struct MemoryRange {
  const void* address = nullptr;
  std::size_t bytes = 0;
};

/// One timed call.
struct Lap {
  double ns = 0.0;
  double sm_clock_mhz =
      0.0;  ///< the lower of two readings on the device, right before and right after
            ///< the call; 0 on a CPU
};

/// Times calls on one device. All throw Error when the device reports an error, or when a call
/// waits for the device and so can never finish behind the blocking kernel.
class Stopwatch {
 public:
  virtual ~Stopwatch() = default;
  /// One call that finds nothing of its data in any cache. `about_to_run`, where given, is called when it
  /// only remains to let the call run.
  virtual Lap cold(const std::function<void()>& call,
                   const std::function<void()>& about_to_run = {}) = 0;
  /// `count` calls in a row, caches as they are; nanoseconds for one.
  virtual double back_to_back(const std::function<void()>& call, int count) = 0;
  /// Closes the device's stream: what is enqueued from now on waits for release(), for three seconds at
  /// most. False, and nothing happens, where a call is done when it returns.
  virtual bool hold() { return false; }
  /// Opens it. Throws Error when the three seconds were over: somebody waited for the device.
  virtual void release() {}
  /// `count` calls captured into one graph; nanoseconds for one. nullopt where there are no graphs.
  virtual std::optional<double> graph(const std::function<void()>& call, int count) = 0;
};

/// Work of the harness's own that runs beside a candidate's, so that its blocks and threads meet in other
/// orders than on an idle device. It ends when this goes away.
class Load {
 public:
  virtual ~Load() = default;
};

/// A control: work whose speed says how fast this machine is now. It is no variant.
struct Control {
  std::string name;  ///< copy, memcpy, fill, fma
  std::string idea;
  int streams = 2;                 ///< 2: reads and writes `bytes`; 1: only writes them
  std::int64_t flops_a_float = 0;  ///< floating-point operations for each float written
  /// Enqueues the work on `bytes` bytes; `from` is ignored by a fill.
  std::function<void(void* to, const void* from, std::size_t bytes)> enqueue;
};

/// The word a fill control writes.
inline constexpr std::uint32_t fill_word = 0x3FC00000U;  // 1.5F

class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual const DeviceTraits& traits() const = 0;

  /// Throws Unavailable when the memory is not there.
  [[nodiscard]] virtual Buffer allocate(std::size_t bytes) = 0;
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;
  /// Bytes [0, bytes) of `address` as the host can read them: in place on a CPU, otherwise copied
  /// into page-locked memory that the next call reuses.
  [[nodiscard]] virtual std::span<const std::byte> host_view(const void* address,
                                                             std::size_t bytes) = 0;

  /// Memory for one tensor, `bytes` rounded up to whole pages. Another process may map it. On a CPU the
  /// system lets nobody else write it unless `others_may_write`; on a GPU it is mapped read only where
  /// open_region() is told so, which whoever opens it could undo. Throws Unavailable when the memory is not there.
  [[nodiscard]] virtual std::unique_ptr<Region> make_region(std::size_t bytes,
                                                            bool others_may_write) = 0;
  /// Maps a region that another process made. The descriptor stays the caller's.
  [[nodiscard]] virtual std::unique_ptr<Region> open_region(int descriptor, std::size_t bytes,
                                                            bool writable) = 0;

  // What follows is enqueued; quiesce(), synchronise() and whatever returns a value wait for it.

  /// Values 0..count-1 of an input recipe (generator.hd.hpp), bit-equal on every device.
  virtual void generate(float* to, std::int64_t count, const InputRecipe& recipe,
                        std::uint64_t seed) = 0;
  /// NaNs with payloads from (seed, index).
  virtual void poison(float* to, std::int64_t count, std::uint64_t seed) = 0;
  /// For each range the sum of fingerprint_term over its words.
  [[nodiscard]] virtual std::vector<std::uint64_t> fingerprints(
      std::span<const MemoryRange> ranges) = 0;
  [[nodiscard]] std::uint64_t fingerprint(const void* address, std::size_t bytes) {
    const MemoryRange range{address, bytes};
    return fingerprints({&range, 1}).front();
  }

  /// Waits for this process's own work and takes no more of the device than an idle process would, so
  /// that another can be timed.
  virtual void quiesce() = 0;
  /// Waits for all work. Throws Error with the device's message when any of it failed.
  virtual void synchronise() = 0;
  /// Waits for what was enqueued on the device's stream, and for nothing else. Throws as synchronise().
  virtual void finish_call() = 0;
  [[nodiscard]] virtual std::unique_ptr<Load> start_load() = 0;
  [[nodiscard]] virtual std::unique_ptr<Stopwatch> stopwatch() = 0;
  [[nodiscard]] virtual std::vector<Control> controls() = 0;
  [[nodiscard]] virtual std::optional<double> temperature_c() = 0;
};

/// What `list` needs to know of a kind of device without opening it.
struct DeviceStatus {
  std::optional<DeviceTraits> traits;  ///< the first device of the kind
  std::string reason;                  ///< why there is none
};

struct DeviceOptions {
  bool pin_threads = false;   ///< CPU: one thread a core, in order
  std::string kernel_folder;  ///< CUDA: read kernel sources here instead of those built in
};

/// Looks without opening anything; takes under a millisecond where there is no driver.
[[nodiscard]] DeviceStatus probe_device(DeviceKind kind);
/// Throws Unavailable with the reason when there is none.
[[nodiscard]] std::unique_ptr<Device> open_device(DeviceKind kind, const DeviceOptions& options);

// What each kind provides to the two above.
[[nodiscard]] DeviceStatus probe_cpu();
[[nodiscard]] DeviceStatus probe_cuda();
[[nodiscard]] std::unique_ptr<Device> open_cpu(const DeviceOptions& options);
[[nodiscard]] std::unique_ptr<Device> open_cuda(const DeviceOptions& options);

}  // namespace fusebench
