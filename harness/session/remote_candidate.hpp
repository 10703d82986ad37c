// A candidate in a worker process: every call is a question and an answer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/session/worker_process.hpp"
#include "harness/trace/phase.hpp"
#include "harness/verify/candidate.hpp"

namespace fusebench {

/// Throws what the worker reports as Unavailable or Error, and LostWorker and Interrupted as ask() does.
class RemoteCandidate final : public Candidate {
 public:
  /// The worker outlives it.
  explicit RemoteCandidate(WorkerProcess& worker) : worker_(&worker) {}

  void prepare(const PlanRequest& request, const std::vector<TensorView>& tensors) override;
  std::uint64_t call(bool loaded) override;
  bool enqueue_held() override;
  void release() override;
  void settle() override;
  Lap sample(const std::function<void()>& about_to_run) override;
  void sample_nothing(const std::function<void()>& about_to_run) override;
  double back_to_back(int count) override;
  std::optional<double> graph(int count) override;
  std::string description() override { return description_; }
  std::int64_t launches() override { return launches_; }
  int threads() override { return threads_of(worker_->process()); }

 private:
  nlohmann::json ask(nlohmann::json message, const std::vector<int>& files = {},
                     const std::function<void()>& on_go = {});

  WorkerProcess* worker_;
  std::string description_;    // as the worker says
  std::int64_t launches_ = 0;  // likewise
};

/// Has the worker's process show its phases, where a profiler sees the candidate's work. Only for a run under one: what
/// tells a profiler where a candidate is tells the candidate too. Throws as RemoteCandidate.
class RemotePhases final : public PhaseListener {
 public:
  /// The worker outlives it.
  explicit RemotePhases(WorkerProcess& worker) : worker_(&worker) {}

  void enter(Phase phase, const std::string& key) override;
  void leave() override;
  void conclude(const std::string& key, Outcome outcome, double ns) override;

 private:
  WorkerProcess* worker_;
};

}  // namespace fusebench
