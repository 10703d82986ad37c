#include "harness/device/call_clock.hpp"

#include <chrono>

#include "harness/device/cuda/cuda_device.hpp"

namespace fusebench {
namespace {

class HostCallClock final : public CallClock {
 public:
  explicit HostCallClock(Device& device) : device_(&device) {}

  void flush() override {
    if (!stopwatch_) stopwatch_ = device_->stopwatch();
    (void)stopwatch_->cold([] {});
  }

  void time(const std::function<void()>& call) override {
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    times_ns_.push_back(taken.count());
  }

  std::vector<double> finish() override { return std::move(times_ns_); }

 private:
  Device* device_;
  std::unique_ptr<Stopwatch> stopwatch_;
  std::vector<double> times_ns_;
};

}  // namespace

std::unique_ptr<CallClock> make_call_clock(Device& device) {
  if (auto* cuda = dynamic_cast<CudaDevice*>(&device)) return make_cuda_call_clock(*cuda);
  return std::make_unique<HostCallClock>(device);
}

CaptureRange::CaptureRange() { tell_profiler(true); }
CaptureRange::~CaptureRange() { tell_profiler(false); }

}  // namespace fusebench
