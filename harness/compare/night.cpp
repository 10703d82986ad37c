#include "harness/compare/night.hpp"

#include "harness/core/error.hpp"

namespace fusebench {

std::string to_string(const SeriesId& id) {
  return fmt::format("{} {} {} {} {}", id.operator_name, id.variant, id.configuration, id.problem,
                     to_string(id.device));
}

std::string difference(const Conditions& a, const Conditions& b) {
  const auto told = [](const char* what, std::string_view one, std::string_view other) {
    return fmt::format("{} '{}' and '{}'", what, one, other);
  };
  if (a.device_name != b.device_name) return told("device", a.device_name, b.device_name);
  if (a.driver != b.driver) return told("driver", a.driver, b.driver);
  if (a.toolkit != b.toolkit) return told("toolkit", a.toolkit, b.toolkit);
  if (a.clock_policy != b.clock_policy) {
    return told("clock policy", a.clock_policy, b.clock_policy);
  }
  if (a.precision != b.precision) {
    return told("precision", to_string(a.precision), to_string(b.precision));
  }
  return "";
}

void Night::add(const Record& record) {
  const SeriesId id{record.operator_name, record.variant, record.configuration, record.problem,
                    record.device};
  Replicas& replicas = series_[id];
  // A record that is there twice would pass for two processes.
  if (!replicas.processes.emplace(record.run_id, record.replica).second) {
    throw Error("{}: replica {} of run '{}' of {} is there twice; a file must have it once", name_,
                record.replica, record.run_id, to_string(id));
  }
  if (record.outcome == Outcome::unavailable) {
    if (replicas.unavailable.empty()) replicas.unavailable = record.reason;
    return;
  }
  Conditions conditions{record.device_name, record.driver, record.toolkit, record.clock_policy,
                        record.precision};
  if (record.operator_name == control_operator) conditions.precision = Precision::float32;
  if (!replicas.present()) {
    replicas.conditions = std::move(conditions);
  } else if (replicas.mixed.empty()) {
    replicas.mixed = difference(replicas.conditions, conditions);
  }
  if (record.outcome != Outcome::passed) {
    if (replicas.failure.empty()) {
      replicas.failure = fmt::format("{}: {}", to_string(record.outcome), record.reason);
    }
    ++replicas.not_passed;
  } else if (!record.median_ns) {
    ++replicas.untimed;
  } else if (!(*record.median_ns > 0.0)) {
    throw Error("{}: {} has a median_ns of 0, which has no ratio", name_, to_string(id));
  } else {
    replicas.medians_ns.push_back(*record.median_ns);
  }
}

}  // namespace fusebench
