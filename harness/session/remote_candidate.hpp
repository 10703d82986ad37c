// A candidate in a worker process: every call is a question and an answer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/session/worker_process.hpp"
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

}  // namespace fusebench
