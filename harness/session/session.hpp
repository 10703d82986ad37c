// What to run, in which order, and what becomes of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/registry.hpp"
#include "harness/device/device.hpp"
#include "harness/measure/ceilings.hpp"
#include "harness/session/job.hpp"
#include "harness/tune/wisdom.hpp"

namespace fusebench {

struct Selection {
  std::string operator_name;  ///< empty: all
  std::string filter;         ///< ECMAScript regular expression on "operator variant"
  std::vector<DeviceKind> devices = {DeviceKind::cpu, DeviceKind::cuda};
  std::string problem;                    ///< empty: quick on a CPU, official on a GPU
  std::string configuration = "default";  ///< default, wisdom, all, or key=value,...
  std::vector<Wisdom> wisdom = {};        ///< what "wisdom" chooses from
};

struct SessionOptions {
  std::uint64_t seed = 0;
  Battery battery = Battery::quick;
  bool measure = true;
  int replicas =
      1;  ///< processes for each configuration; what is between two of one is all the rest
  SamplingLimits limits;
  bool judge_in_worker = false;    ///< even where another process can judge
  double timeout_seconds = 120.0;  ///< for one configuration: compile, verify and samples
  DeviceOptions device;
  std::function<bool()> interrupted = [] { return false; };
};

/// One configuration to run, or a control.
struct Item {
  const Operator* op = nullptr;      ///< null for a control
  const Variant* variant = nullptr;  ///< null for a control
  DeviceKind device = DeviceKind::cpu;
  std::string unavailable;          ///< why it will not run; empty when it will
  bool show_configuration = false;  ///< it may be another than the default
  std::string wisdom = {};     ///< where the configuration comes from, where wisdom was asked for
  Properties properties = {};  ///< that the variant's constraints may name
  Job job;
};

/// The variants that a selection names, with their configurations; controls of each device first, what
/// cannot run last. Of several replicas one whole round, controls and all, after the other.
/// Throws Error for a bad expression, an unknown operator, problem or configuration, and when nothing
/// matches, saying what there is.
[[nodiscard]] std::vector<Item> plan_session(const Selection& selection,
                                             const SessionOptions& options);

class SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  virtual void on_start(std::size_t index, std::size_t total, const Item& item) = 0;
  virtual void on_phase(const std::string& phase) = 0;
  /// The record is complete; nothing else runs until this returns.
  virtual void on_result(const JobResult& result) = 0;
};

/// Gives the items one after another, each when the one before has its result; nothing at the end.
using NextItem = std::function<std::optional<Item>()>;

/// Runs items as they come; `expected` is about how many can run, for the observer. False when interrupted.
bool run_session(const NextItem& next, std::size_t expected, const SessionOptions& options,
                 SessionObserver& observer);

/// Runs the items. Every one gets a result unless interrupted; true when it ran to the end.
bool run_session(const std::vector<Item>& items, const SessionOptions& options,
                 SessionObserver& observer);

}  // namespace fusebench
