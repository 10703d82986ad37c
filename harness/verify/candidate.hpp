// What is judged, wherever it runs: in this process, or in another that may lie, hang or die.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/variant.hpp"
#include "harness/device/device.hpp"
#include "harness/verify/workbench.hpp"

namespace fusebench {

/// A plan to prepare, by names that both processes know.
struct PlanRequest {
  bool control = false;  ///< `variant` names a control
  std::string operator_name;
  std::string variant;
  std::string configuration;  ///< as Configuration::to_string gives it
  std::string problem;        ///< as Problem::to_string gives it
  friend bool operator==(const PlanRequest&, const PlanRequest&) = default;
};

/// All throw Unavailable when the device cannot run it, Error when something broke.
class Candidate {
 public:
  virtual ~Candidate() = default;
  /// Makes the plan, and lets go of the one before; or keeps that, with other tensors, where the request is
  /// the same: cases of one problem are calls of one plan. The regions outlive the plan's calls.
  virtual void prepare(const PlanRequest& request, const std::vector<TensorView>& tensors) = 0;
  /// One call, beside work of the harness's own if `loaded`. Returns when what was enqueued where a plan
  /// must enqueue is done, with the output's fingerprint, taken there right behind the call.
  [[nodiscard]] virtual std::uint64_t call(bool loaded) = 0;
  /// Enqueues one call where it must wait until release(), which waits for it; false, and nothing was
  /// called, where a call is done when it returns, or where the judge would have to wait with it.
  [[nodiscard]] virtual bool enqueue_held() = 0;
  virtual void release() = 0;
  /// Waits for everything on the device, wherever it was put. Throws what failed.
  virtual void settle() = 0;
  /// One call that finds nothing of its data in any cache; what it says of its time is its own claim.
  /// `about_to_run`, where given, is called when all is ready and the call itself comes next; the call
  /// waits until it returns.
  [[nodiscard]] virtual Lap sample(const std::function<void()>& about_to_run) = 0;
  /// The same, of no call at all: what going and answering take.
  virtual void sample_nothing(const std::function<void()>& about_to_run) = 0;
  [[nodiscard]] virtual double back_to_back(int count) = 0;
  [[nodiscard]] virtual std::optional<double> graph(int count) = 0;
  /// What the plan that is prepared says of itself.
  [[nodiscard]] virtual std::string description() = 0;
  /// Kernels launched by the plan since prepare(), in the making of it too; 0 on a CPU.
  [[nodiscard]] virtual std::int64_t launches() = 0;
  /// Threads of the process that it runs in.
  [[nodiscard]] virtual int threads() = 0;
  /// What all prepare()s so far have taken: compiling, or finding what was compiled.
  [[nodiscard]] double prepare_ns() const noexcept { return prepare_ns_; }

 protected:
  double prepare_ns_ = 0.0;
};

/// In this process, on `device`, which outlives it.
class LocalCandidate final : public Candidate {
 public:
  explicit LocalCandidate(Device& device) : device_(&device) {}

  void prepare(const PlanRequest& request, const std::vector<TensorView>& tensors) override;
  /// Lets go of the plan, unless it is what `request` asks for.
  void drop_unless(const PlanRequest& request);
  /// A plan that needs no name, for tests and for whoever owns the loop.
  void adopt(std::unique_ptr<Plan> plan, const std::vector<TensorView>& tensors);
  std::uint64_t call(bool loaded) override;
  /// The judge shares this process and its stream, and would wait with it.
  bool enqueue_held() override { return false; }
  void release() override { stopwatch().release(); }
  /// As enqueue_held(), for a judge in another process.
  bool enqueue_behind_hold();
  void settle() override { device_->synchronise(); }
  Lap sample(const std::function<void()>& about_to_run) override;
  void sample_nothing(const std::function<void()>& about_to_run) override;
  double back_to_back(int count) override;
  std::optional<double> graph(int count) override;
  std::string description() override { return plan_ ? plan_->description() : ""; }
  std::int64_t launches() override { return launches_; }
  int threads() override;

 private:
  Stopwatch& stopwatch();
  void enqueue();
  void place(const std::vector<TensorView>& tensors);

  Device* device_;
  std::unique_ptr<Stopwatch> stopwatch_;
  std::unique_ptr<Plan> plan_;
  PlanRequest request_;  // that plan_ was made for; empty names where it was adopted
  std::optional<TensorTable> tensors_;
  MemoryRange output_;
  std::int64_t launches_ = 0;
};

/// Kernels launched so far on a device; 0 on a CPU.
[[nodiscard]] std::int64_t launches_on(const Device& device);

/// Entries of /proc/PID/task: the threads of a process; 0 when it is gone.
[[nodiscard]] int threads_of(int process);

}  // namespace fusebench
