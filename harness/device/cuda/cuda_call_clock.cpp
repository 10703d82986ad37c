// Events around calls, and the word to a profiler that waits for one.
#include <cmath>
#include <utility>

#include "harness/device/call_clock.hpp"
#include "harness/device/cuda/cuda_device.hpp"
#include "harness/device/cuda/driver_api.hpp"

namespace fusebench {
namespace {

class CudaCallClock final : public CallClock {
 public:
  explicit CudaCallClock(CudaDevice& device)
      : device_(&device), stream_(static_cast<CUstream>(device.stream())) {}
  CudaCallClock(const CudaCallClock&) = delete;
  CudaCallClock& operator=(const CudaCallClock&) = delete;
  ~CudaCallClock() override { forget(); }

  void flush() override {
    const auto bytes = static_cast<std::size_t>(2 * device_->traits().cache_bytes);
    if (eraser_.bytes() == 0) eraser_ = device_->allocate(bytes);
    FUSEBENCH_CUDA(MemsetD8Async, reinterpret_cast<CUdeviceptr>(eraser_.address()), 0, bytes,
                   stream_);
  }

  void time(const std::function<void()>& call) override {
    auto& [start, stop] = events_.emplace_back(nullptr, nullptr);
    FUSEBENCH_CUDA(EventCreate, &start, CU_EVENT_DEFAULT);
    FUSEBENCH_CUDA(EventCreate, &stop, CU_EVENT_DEFAULT);
    FUSEBENCH_CUDA(EventRecord, start, stream_);
    call();
    FUSEBENCH_CUDA(EventRecord, stop, stream_);
  }

  std::vector<double> finish() override {
    device_->synchronise();
    std::vector<double> times_ns;
    for (const auto& [start, stop] : events_) {
      float milliseconds = 0.0F;
      FUSEBENCH_CUDA(EventElapsedTime, &milliseconds, start, stop);
      // A float's digits, no more.
      times_ns.push_back(std::round(static_cast<double>(milliseconds) * 1e9) / 1e3);
    }
    forget();
    return times_ns;
  }

 private:
  // Unchecked: after an illegal address every call fails.
  void forget() {
    for (const auto& [start, stop] : events_) {
      if (start != nullptr) (void)driver().EventDestroy(start);
      if (stop != nullptr) (void)driver().EventDestroy(stop);
    }
    events_.clear();
  }

  CudaDevice* device_;
  CUstream stream_;
  Buffer eraser_;
  std::vector<std::pair<CUevent, CUevent>> events_;
};

}  // namespace

std::unique_ptr<CallClock> make_cuda_call_clock(CudaDevice& device) {
  return std::make_unique<CudaCallClock>(device);
}

void tell_profiler(bool record) {
  // Where no profiler waits they are refused or do nothing.
  (void)(record ? driver().ProfilerStart() : driver().ProfilerStop());
}

}  // namespace fusebench
