#include "harness/device/call_clock.hpp"

#include <chrono>

#include "harness/device/cuda/cuda_device.hpp"

namespace fusebench {
namespace {

class HostCallClock final : public CallClock {
 public:
  HostCallClock(Device& device, bool flush) {
    if (flush) stopwatch_ = device.stopwatch();
  }

  void time(const std::function<void()>& call) override {
    if (stopwatch_) {
      times_ns_.push_back(stopwatch_->cold(call).ns);
      return;
    }
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    times_ns_.push_back(taken.count());
  }

  std::vector<double> finish() override { return std::move(times_ns_); }

 private:
  std::unique_ptr<Stopwatch> stopwatch_;
  std::vector<double> times_ns_;
};

}  // namespace

std::unique_ptr<CallClock> make_call_clock(Device& device, bool flush) {
  if (auto* cuda = dynamic_cast<CudaDevice*>(&device)) return make_cuda_call_clock(*cuda, flush);
  return std::make_unique<HostCallClock>(device, flush);
}

CaptureRange::CaptureRange() { tell_profiler(true); }
CaptureRange::~CaptureRange() { tell_profiler(false); }

}  // namespace fusebench
