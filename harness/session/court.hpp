// One job from beginning to end: the battery, then the timed problem, every call of it judged.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "harness/device/device.hpp"
#include "harness/session/job.hpp"
#include "harness/trace/phase.hpp"
#include "harness/verify/candidate.hpp"
#include "harness/verify/examiner.hpp"

namespace fusebench {

/// Hears where a job is: "verify at ..." and "measure".
using Phases = std::function<void(const std::string&)>;

/// Judges candidates on one device and keeps the timed problem's tensors between jobs.
class Court {
 public:
  /// `where` goes into the records: "parent" or "worker". The device outlives the court.
  Court(Device& device, std::string where) : device_(&device), where_(std::move(where)) {}

  /// Fills the result's record, samples, notes and times. A candidate that is wrong, fails, or cannot
  /// run has that as its record's outcome; what else its process did, such as dying, is thrown by the
  /// candidate and comes out of here. `timeline`, where given, hears of the phases; a candidate in this process prepares
  /// the cases of its battery within `verify`.
  void run(const Job& job, Candidate& candidate, const Phases& on_phase, JobResult& result,
           PhaseListener* timeline = nullptr);

 private:
  void judge(const Job& job, Candidate& candidate, const Phases& on_phase, JobResult& result);
  Workbench& bench(const Operator& op, const Problem& problem, const Placement& placement,
                   std::uint64_t seed);
  Verdict try_battery(const Job& job, const Operator& op, const VariantInfo& info,
                      Candidate& candidate, const Phases& on_phase, JobResult& result);
  Verdict time_it(const Job& job, const Operator& op, const Problem& problem,
                  const Placement& placement, const AcceptanceRule& rule, Candidate& candidate,
                  const Phases& on_phase, JobResult& result);

  void enter(Phase phase) {
    if (timeline_ != nullptr) timeline_->enter(phase, key_);
  }

  Device* device_;
  std::string where_;
  PhaseListener* timeline_ = nullptr;  // of the job at hand
  std::string key_;                    // likewise
  std::string bench_key_;
  std::unique_ptr<Workbench> bench_;
};

}  // namespace fusebench
