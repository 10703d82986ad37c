// The judge's side of a worker: start it, give it a job, survive whatever it does.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "harness/device/device.hpp"
#include "harness/session/job.hpp"
#include "harness/session/line_channel.hpp"

namespace fusebench {

class WorkerProcess {
 public:
  /// Starts this program again as a worker for `kind`. Throws Error when the system refuses.
  WorkerProcess(DeviceKind kind, const DeviceOptions& options);
  ~WorkerProcess();  ///< kills it
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Gives the job and waits. A death gives outcome crashed, with the signal and the phase; no answer
  /// within `limit` gives timed_out, and the worker is killed. `interrupted` is asked several
  /// times a second; when it says yes the worker is killed and the outcome is failed, reason "interrupted".
  [[nodiscard]] JobResult run(const Job& job, std::chrono::duration<double> limit,
                              const std::function<void(const std::string&)>& on_phase,
                              const std::function<bool()>& interrupted);

  /// False once it died, was killed, or ran something that was wrong or failed.
  [[nodiscard]] bool usable() const noexcept { return usable_; }

 private:
  [[nodiscard]] std::string cause_of_death();

  DeviceKind kind_;
  pid_t process_ = -1;
  bool reaped_ = false;
  bool usable_ = true;
  std::unique_ptr<LineChannel> channel_;
};

/// The hidden subcommand that a worker is started with.
inline constexpr const char* worker_command = "__worker";

}  // namespace fusebench
