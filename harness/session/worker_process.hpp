// The judge's side of a worker process: start it, speak with it, survive whatever it does.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/core/outcome.hpp"
#include "harness/device/device.hpp"
#include "harness/session/line_channel.hpp"

namespace fusebench {

/// The worker is of no use any more: it died, hung, or answered nonsense. Ends the job with `outcome`.
class LostWorker : public std::runtime_error {
 public:
  LostWorker(Outcome how, const std::string& reason) : std::runtime_error(reason), outcome(how) {}
  Outcome outcome;
};

/// The user asked to stop.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

class WorkerProcess {
 public:
  /// Starts this program again as a worker for `kind`. `interrupted` is asked several times a second while
  /// it waits. Throws Error when the system refuses.
  WorkerProcess(DeviceKind kind, const DeviceOptions& options, std::function<bool()> interrupted);
  ~WorkerProcess();  ///< kills it
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// From now on answers may be waited for as long as this, all together. What the judge does between its
  /// questions does not count.
  void set_limit(std::chrono::duration<double> limit);
  /// Where the job is, for the reason of a death.
  void set_phase(std::string phase) { phase_ = std::move(phase); }

  /// Sends a message with open files and waits for its answer. What the worker says while it works, under
  /// "phase", goes to `on_phase`. Throws Unavailable and Error that the worker reports; LostWorker when it dies, is silent beyond the limit, or
  /// answers what was not asked; Interrupted.
  nlohmann::json ask(nlohmann::json message, const std::vector<int>& files = {},
                     const std::function<void(const std::string&)>& on_phase = {});

  /// Sends a message that has no answer.
  void tell(const nlohmann::json& message);

  [[nodiscard]] int process() const noexcept { return process_; }
  [[nodiscard]] DeviceKind kind() const noexcept { return kind_; }

 private:
  [[nodiscard]] std::string cause_of_death();
  [[noreturn]] void lose(Outcome outcome, const std::string& reason);

  [[nodiscard]] nlohmann::json answer_to(const std::string& token,
                                         std::chrono::steady_clock::time_point deadline,
                                         const std::function<void(const std::string&)>& on_phase);
  [[nodiscard]] bool has_died() const noexcept;
  void kill_all() const noexcept;

  DeviceKind kind_;
  std::function<bool()> interrupted_;
  std::chrono::duration<double> limit_{0};
  std::chrono::duration<double> left_{0};
  std::string phase_ = "start";
  std::string last_words_;  // what the worker said of a fault before it died
  pid_t process_ = -1;
  bool reaped_ = false;
  std::unique_ptr<LineChannel> channel_;
};

/// The hidden subcommand that a worker is started with.
inline constexpr const char* worker_command = "__worker";

}  // namespace fusebench
