// Times calls that follow one another, for a timeline: nothing waits between them, and nothing holds them back.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "harness/device/device.hpp"

namespace fusebench {

class CudaDevice;

/// On a GPU two events around what each call enqueues. The first of them passes as soon as what is before it is done, so a call
/// that the stream was idle before has the host's time to launch in its own; one enqueued while another runs has not. On a
/// CPU the host's clock.
class CallClock {
 public:
  virtual ~CallClock() = default;
  /// Writes over the caches: twice the last-level one.
  virtual void flush() = 0;
  /// Throws what the call throws, and Error when the device reports one.
  virtual void time(const std::function<void()>& call) = 0;
  /// Waits for all of them; nanoseconds of each, in order. Throws Error with the device's message when any failed.
  [[nodiscard]] virtual std::vector<double> finish() = 0;
};

/// The device outlives the clock.
[[nodiscard]] std::unique_ptr<CallClock> make_call_clock(Device& device);

/// While this lives, and where there is a driver, a profiler that was told to wait for the program records
/// (cuProfilerStart, cuProfilerStop). Needs an open CUDA device.
class CaptureRange {
 public:
  CaptureRange();
  CaptureRange(const CaptureRange&) = delete;
  CaptureRange& operator=(const CaptureRange&) = delete;
  ~CaptureRange();
};

// What CUDA provides to these.
[[nodiscard]] std::unique_ptr<CallClock> make_cuda_call_clock(CudaDevice& device);
void tell_profiler(bool record);

}  // namespace fusebench
