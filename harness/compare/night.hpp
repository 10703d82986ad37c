// The replicas of every series of one results file, or of one build: what a comparison needs to know of it.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/core/record.hpp"

namespace fusebench {

/// What makes records one series, in whatever run they are.
struct SeriesId {
  std::string operator_name, variant, configuration, problem;
  DeviceKind device = DeviceKind::cpu;

  friend bool operator<(const SeriesId& a, const SeriesId& b) {
    return std::tie(a.operator_name, a.variant, a.configuration, a.problem, a.device) <
           std::tie(b.operator_name, b.variant, b.configuration, b.problem, b.device);
  }
};

/// "operator variant configuration problem device"
[[nodiscard]] std::string to_string(const SeriesId& id);

/// What must be the same for two times to compare.
struct Conditions {
  std::string device_name, driver, toolkit, clock_policy;
  Precision precision = Precision::float32;

  bool operator==(const Conditions&) const = default;
};

/// The first thing in which they differ, "driver 580.1 and 590.2"; empty when they are equal.
[[nodiscard]] std::string difference(const Conditions& a, const Conditions& b);

/// One series' side of a comparison.
struct Replicas {
  std::vector<double> medians_ns;  ///< of the replicas that passed, in the order added
  Conditions conditions;           ///< of the first record that was not unavailable
  std::string mixed;        ///< how two of its records' conditions differ; empty when they do not
  std::size_t untimed = 0;  ///< passed without a time, as by `verify`
  std::size_t not_passed = 0;  ///< wrong, failed, crashed or timed_out
  std::string failure;         ///< the first of these: "wrong: 3 of 8 elements ..."
  std::string unavailable;     ///< the first reason for being unavailable
  std::set<std::pair<std::string, int>> processes;  ///< run_id and replica of every record

  /// Did it run at all?
  [[nodiscard]] bool present() const {
    return !medians_ns.empty() || untimed > 0 || not_passed > 0;
  }
};

class Night {
 public:
  /// `name` is what it is called in messages: a file, or a program.
  explicit Night(std::string name) : name_(std::move(name)) {}

  /// Throws Error when the same replica of the same run and series was added before, or a time is 0.
  void add(const Record& record);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::map<SeriesId, Replicas>& series() const noexcept { return series_; }

 private:
  std::string name_;
  std::map<SeriesId, Replicas> series_;
};

}  // namespace fusebench
