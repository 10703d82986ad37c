// A record of what a GPU and the calls to it did, by CUDA's own profiling interface (CUPTI).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "harness/trace/timeline.hpp"

namespace fusebench {

class DeviceRecorder {
 public:
  virtual ~DeviceRecorder() = default;
  /// The clock of everything that is recorded.
  [[nodiscard]] virtual std::uint64_t now_ns() const = 0;
  /// Begins to record. Throws Unavailable with CUPTI's message where it refuses.
  virtual void start() = 0;
  /// What this thread enqueues until end_call() belongs to Timeline::calls[call].
  virtual void begin_call(std::size_t call) = 0;
  virtual void end_call() = 0;
  /// Ends the recording and adds to the timeline: work, the API calls that belong to a call or started work or took 1 us,
  /// overheads, and how much was dropped. All work must be done by now. Throws Error where the records cannot be had.
  virtual void finish(Timeline& timeline) = 0;
};

/// Throws Unavailable with the reason: no CUPTI in this build or on this machine, or another profiler that holds it, since it
/// serves one at a time. At most one may live at once.
[[nodiscard]] std::unique_ptr<DeviceRecorder> open_cupti();

}  // namespace fusebench
