// The worker process: it runs candidates, and may die of it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "harness/device/device.hpp"
#include "harness/session/job.hpp"
#include "harness/verify/workbench.hpp"

namespace fusebench {

/// Runs jobs on one device and keeps the last problem's tensors between them.
class JobRunner {
 public:
  /// `on_phase` is called with "prepare", "verify", "measure" as each begins.
  JobRunner(DeviceKind kind, DeviceOptions options,
            std::function<void(const std::string&)> on_phase);

  /// Never throws for what a candidate did: its record carries the outcome.
  [[nodiscard]] JobResult run(const Job& job);

 private:
  void run_variant(const Job& job, JobResult& result);
  void run_control(const Job& job, JobResult& result);
  void measure(const Job& job, const std::function<void()>& call, JobResult& result);
  Device& device();
  Workbench& bench(const Operator& op, const Problem& problem, std::uint64_t seed);

  DeviceKind kind_;
  DeviceOptions options_;
  std::function<void(const std::string&)> on_phase_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stopwatch> stopwatch_;
  std::string bench_key_;
  std::unique_ptr<Workbench> bench_;
};

/// Answers job lines from `descriptor` until it closes. Returns the process's exit code.
int serve_jobs(int descriptor, DeviceKind kind, const DeviceOptions& options);

}  // namespace fusebench
