// The replicas of every series of one results file, or of one build: what a comparison needs to know of it.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/core/record.hpp"

namespace fusebench {

/// What makes records one series, in whatever run they are.
struct SeriesId {
  std::string operator_name, variant, configuration, problem;
  DeviceKind device = DeviceKind::cpu;

  friend bool operator==(const SeriesId&, const SeriesId&) = default;
  friend bool operator<(const SeriesId& a, const SeriesId& b) {
    return std::tie(a.operator_name, a.variant, a.configuration, a.problem, a.device) <
           std::tie(b.operator_name, b.variant, b.configuration, b.problem, b.device);
  }
};

struct SeriesIdHash {
  [[nodiscard]] std::size_t operator()(const SeriesId& id) const noexcept;
};

/// What must be the same for two times to compare.
struct Conditions {
  std::string device_name, driver, toolkit, clock_policy;
  Precision precision = Precision::float32;

  bool operator==(const Conditions&) const = default;
};

/// The first thing in which they differ, "driver 580.1 and 590.2"; empty when they are equal.
[[nodiscard]] std::string difference(const Conditions& a, const Conditions& b);

/// The replicas with one outcome.
struct Tally {
  std::size_t count = 0;
  std::string reason;  ///< the first one's
};

/// One series' side of a comparison.
struct Replicas {
  std::vector<double> medians_ns;  ///< of the replicas that passed, in the order added
  Conditions conditions;           ///< of the first record that was not unavailable
  std::string commit;              ///< likewise: "1aff278", "1aff278, modified"
  std::string
      mixed;  ///< how two of its records' conditions or commits differ; empty when they do not
  std::size_t untimed = 0;            ///< passed without a time, as by `verify`
  std::map<Outcome, Tally> failures;  ///< wrong, failed, crashed and timed_out
  Tally unavailable;
  std::set<std::pair<std::string, int>> processes;  ///< run_id and replica of every record

  [[nodiscard]] std::size_t passed() const { return medians_ns.size() + untimed; }
  [[nodiscard]] std::size_t not_passed() const;
  /// Those that ran at all.
  [[nodiscard]] std::size_t ran() const { return passed() + not_passed(); }
};

class Night {
 public:
  using Series = std::unordered_map<SeriesId, Replicas, SeriesIdHash>;

  /// `name` is what it is called in messages: a file, or a program.
  explicit Night(std::string name) : name_(std::move(name)) {}

  /// Throws Error when the same replica of the same run and series was added before, or a time is 0.
  void add(const Record& record);

  /// Adds to a series what another night has of it, times multiplied by `scale`. Throws Error when one of its
  /// processes was added before.
  void add(const SeriesId& id, const Replicas& others, double scale);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const Series& series() const noexcept { return series_; }

 private:
  std::string name_;
  Series series_;
  // Of the record that is added: their memory serves each.
  SeriesId sought_;
  Conditions found_;
};

}  // namespace fusebench
