#include "harness/compare/night.hpp"

#include <algorithm>
#include <functional>

#include "harness/core/error.hpp"
#include "harness/core/revision.hpp"

namespace fusebench {

namespace {

// How two sets of replicas differ in what must be one for them to be one side.
std::string mixture(const Replicas& a, const Conditions& conditions, const std::string& commit) {
  std::string what = difference(a.conditions, conditions);
  if (what.empty() && a.commit != commit) {
    what = fmt::format("commit '{}' and '{}'", a.commit, commit);
  }
  return what;
}

}  // namespace

std::size_t Replicas::not_passed() const {
  std::size_t sum = 0;
  for (const auto& [outcome, tally] : failures) sum += tally.count;
  return sum;
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

std::size_t SeriesIdHash::operator()(const SeriesId& id) const noexcept {
  std::size_t hash = static_cast<std::size_t>(id.device);
  for (const std::string* text : {&id.operator_name, &id.variant, &id.configuration, &id.problem}) {
    // Of two equal texts neither may take the other out.
    hash = hash * 0x9E3779B97F4A7C15U + std::hash<std::string>()(*text);
  }
  return hash;
}

void Night::add(const Record& record) {
  SeriesId& id = sought_;
  id.operator_name = record.operator_name;
  id.variant = record.variant;
  id.configuration = record.configuration;
  id.problem = record.problem;
  id.device = record.device;
  Replicas& replicas = series_[id];
  // A record that is there twice would pass for two processes.
  if (!replicas.processes.emplace(record.run_id, record.replica).second) {
    throw Error("{}: replica {} of run '{}' of {} is there twice; a file must have it once", name_,
                record.replica, record.run_id, series_key(record));
  }
  if (record.outcome == Outcome::unavailable) {
    if (replicas.unavailable.count++ == 0) replicas.unavailable.reason = record.reason;
    return;
  }
  Conditions& conditions = found_;
  conditions.device_name = record.device_name;
  conditions.driver = record.driver;
  conditions.toolkit = record.toolkit;
  conditions.clock_policy = record.clock_policy;
  conditions.precision =
      record.operator_name == control_operator ? Precision::float32 : record.precision;
  if (replicas.ran() == 0) {
    replicas.conditions = conditions;
    replicas.commit = revision(record.git_commit, record.dirty);
  } else if (replicas.mixed.empty()) {
    replicas.mixed = mixture(replicas, conditions, revision(record.git_commit, record.dirty));
  }
  if (record.outcome != Outcome::passed) {
    Tally& tally = replicas.failures[record.outcome];
    if (tally.count++ == 0) tally.reason = record.reason;
  } else if (!record.median_ns) {
    ++replicas.untimed;
  } else if (!(*record.median_ns > 0.0)) {
    throw Error("{}: {} has a median_ns of 0, which has no ratio", name_, series_key(record));
  } else {
    replicas.medians_ns.push_back(*record.median_ns);
  }
}

void Night::add(const SeriesId& id, const Replicas& others, double scale) {
  Replicas& replicas = series_[id];
  if (replicas.ran() == 0) {
    replicas.conditions = others.conditions;
    replicas.commit = others.commit;
    replicas.mixed = others.mixed;
  } else if (replicas.mixed.empty() && others.ran() > 0) {
    replicas.mixed =
        others.mixed.empty() ? mixture(replicas, others.conditions, others.commit) : others.mixed;
  }
  for (const auto& [run_id, replica] : others.processes) {
    if (!replicas.processes.emplace(run_id, replica).second) {
      throw Error("{}: replica {} of run '{}' of {} {} is there twice", name_, replica, run_id,
                  id.operator_name, id.variant);
    }
  }
  for (const double median_ns : others.medians_ns) replicas.medians_ns.push_back(median_ns * scale);
  replicas.untimed += others.untimed;
  const auto join = [](Tally& to, const Tally& from) {
    if (to.count == 0) to.reason = from.reason;
    to.count += from.count;
  };
  for (const auto& [outcome, tally] : others.failures) join(replicas.failures[outcome], tally);
  join(replicas.unavailable, others.unavailable);
}

}  // namespace fusebench
