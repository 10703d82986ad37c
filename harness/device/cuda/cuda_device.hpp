// What a CUDA variant may ask of its device. No CUDA header is needed to include this, so variants
// compile, and say why they are unavailable, in a build made without the toolkit.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "harness/core/kernel.hpp"
#include "harness/device/cuda/tensor_map.hpp"
#include "harness/device/device.hpp"

namespace fusebench {

struct LaunchShape {
  std::uint32_t blocks = 1;   ///< grid x; y and z stay 1, since those end at 65,535
  std::uint32_t threads = 1;  ///< block x
  std::uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;  ///< all blocks resident at once, so that they can wait for one another
  /// May start before the kernel in front of it has ended, and waits for it by griddepcontrol.wait
  /// (programmatic dependent launch, sm_90 and later).
  bool overlapping = false;
};

/// An entry point of a loaded module.
class CudaKernel {
 public:
  virtual ~CudaKernel() = default;
  /// Launches on the device's current stream. Arguments must match the kernel's parameters in number,
  /// order and type; they are copied before the call returns. Throws Error when refused.
  template <typename... Args>
  void launch(const LaunchShape& shape, const Args&... args) {
    launch_on(nullptr, shape, args...);
  }
  /// The same on another CUstream; the device's current one where `stream` is null.
  template <typename... Args>
  void launch_on(void* stream, const LaunchShape& shape, const Args&... args) {
    std::array<const void*, sizeof...(Args)> pointers = {&args...};
    launch_with(stream, shape, pointers.data());
  }
  /// Resident blocks on one multiprocessor at this block size and dynamic shared memory.
  [[nodiscard]] virtual int blocks_per_multiprocessor(std::uint32_t threads,
                                                      std::uint32_t dynamic_shared_bytes) = 0;

 private:
  virtual void launch_with(void* stream, const LaunchShape& shape, const void* const* args) = 0;
};

/// Machine code on the device.
class CudaModule {
 public:
  virtual ~CudaModule() = default;
  /// Throws Error when there is no such entry point. The kernel must not outlive the module.
  [[nodiscard]] virtual std::unique_ptr<CudaKernel> kernel(const std::string& name) = 0;
};

class CudaDevice : public Device {
 public:
  /// Compiles for this device, or takes the result from the cache on disk, and loads; the last few stay
  /// loaded. Throws Error with the compiler's first message when it does not compile.
  [[nodiscard]] virtual std::shared_ptr<CudaModule> load(const KernelSpec& spec) = 0;
  /// Whether tensor_map() makes any, as drivers since 12.0 do.
  [[nodiscard]] virtual bool has_tensor_maps() const = 0;
  /// As fusebench::tensor_map().
  [[nodiscard]] virtual TensorMap tensor_map(const TensorBoxes& boxes) = 0;
  /// The CUstream that everything is enqueued on, for libraries and for plans of more than kernels.
  [[nodiscard]] virtual void* stream() const = 0;
  /// Kernels launched so far through CudaKernel, the harness's own among them, and library calls.
  [[nodiscard]] virtual std::int64_t launches() const = 0;
  /// A plan says so for each call to a library that launches kernels on stream().
  virtual void count_library_call() = 0;
};

/// `device` as the CUDA device that it must be. Throws Error otherwise.
[[nodiscard]] CudaDevice& cuda_device(Device& device);

/// Blocks that cover `work` items at `per_block` each. Throws Error when a grid cannot hold them.
[[nodiscard]] std::uint32_t blocks_for(std::int64_t work, std::int64_t per_block);

/// Division by a number known at launch, for indices below 2^63: the kernels' side, with the same
/// layout, is in kernels/fast_divisor.cuh.
struct FastDivisor {
  /// `by` must be at least 1.
  explicit FastDivisor(std::int64_t by)
      : divisor(static_cast<std::uint64_t>(by)),
        magic(~std::uint64_t{0} / divisor),
        narrow(divisor >> 31U != 0 ? 0 : ~std::uint32_t{0} / static_cast<std::uint32_t>(divisor)) {}
  std::uint64_t divisor;
  std::uint64_t magic;   ///< floor((2^64 - 1) / divisor)
  std::uint32_t narrow;  ///< floor((2^32 - 1) / divisor); 0 when divisor >= 2^31
};

}  // namespace fusebench
