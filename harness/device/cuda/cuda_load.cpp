#include "harness/device/cuda/cuda_load.hpp"

#include <algorithm>
#include <atomic>

#include "harness/device/cuda/device_kernels.hpp"
#include "harness/device/cuda/driver_api.hpp"

namespace fusebench {
namespace {

constexpr std::size_t scratch_bytes = std::size_t{32} << 20;
constexpr std::uint32_t threads = 64;
// Should the host be killed meanwhile, or wait for the device before it lets go.
constexpr std::uint64_t timeout_ns = 20'000'000;

}  // namespace

class CudaLoads::Running final : public Load {
 public:
  explicit Running(CudaLoads& loads) : loads_(&loads) {}
  ~Running() override {
    *loads_->stop_ = 1;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    (void)driver().StreamSynchronize(loads_->stream_);  // after a failed call it fails too
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  CudaLoads* loads_;
};

CudaLoads::CudaLoads(CudaDevice& device)
    : blocks_(static_cast<std::uint32_t>(std::max(1, device.traits().processors / 4))),
      scratch_(device.allocate(scratch_bytes)) {
  FUSEBENCH_CUDA(StreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
  module_ = device.load(load_kernel());
  // Read before it is written; what it holds does not matter, but initcheck cannot know that.
  FUSEBENCH_CUDA(MemsetD8Async, reinterpret_cast<CUdeviceptr>(scratch_.address()), 0, scratch_bytes,
                 stream_);
  void* host = nullptr;
  FUSEBENCH_CUDA(MemHostAlloc, &host, sizeof(std::uint32_t), CU_MEMHOSTALLOC_DEVICEMAP);
  stop_ = static_cast<volatile std::uint32_t*>(host);
  FUSEBENCH_CUDA(MemHostGetDevicePointer, &stop_on_device_, host, 0);
}

CudaLoads::~CudaLoads() {
  (void)driver().StreamDestroy(stream_);
  (void)driver().MemFreeHost(const_cast<std::uint32_t*>(stop_));
}

std::unique_ptr<Load> CudaLoads::start() {
  const auto kernel = module_->kernel("load");
  *stop_ = 0;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  kernel->launch_on(stream_, {.blocks = blocks_, .threads = threads}, stop_on_device_,
                    scratch_.address(),
                    static_cast<std::uint64_t>(scratch_bytes / sizeof(std::uint32_t)), timeout_ns);
  return std::make_unique<Running>(*this);
}

}  // namespace fusebench
