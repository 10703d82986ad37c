// A tuning log as recorded spaces, one a variant.
#include <algorithm>
#include <map>
#include <regex>

#include "harness/core/error.hpp"
#include "harness/core/parameters.hpp"
#include "harness/tune/recorded_formats.hpp"
#include "harness/tune/tuning_log.hpp"

namespace fusebench {
namespace {

using Named = std::vector<std::pair<std::string, Value>>;

Invalidity invalidity_of(const TuningEntry& entry) {
  if (entry.outcome == "passed") return Invalidity::correct;
  if (entry.outcome == "wrong") return Invalidity::correctness;
  if (entry.outcome == "timed_out") return Invalidity::timeout;
  if (entry.reason.find("does not compile") != std::string::npos) return Invalidity::compile;
  return Invalidity::runtime;
}

Observation observation_of(const TuningEntry& entry) {
  Observation observation;
  observation.invalidity = invalidity_of(entry);
  if (!observation.passed()) observation.failure = entry.outcome;
  observation.time_ns = entry.median_ns;
  observation.samples_ns = entry.samples_ns;
  // Compiled ahead or not, this machine compiled it.
  observation.compile_ns = entry.compile_ns + entry.ahead_ns;
  observation.verify_ns = entry.verify_ns;
  observation.benchmark_ns = entry.measure_ns;
  observation.search_ns = entry.search_ns;
  observation.framework_ns =
      std::max(0.0, entry.total_ns - entry.compile_ns - entry.verify_ns - entry.measure_ns);
  observation.timestamp = entry.timestamp;
  return observation;
}

Named values_of(const TuningEntry& entry) {
  Named values;
  for (const auto& [name, text] : parse_key_values("configuration", entry.configuration)) {
    values.emplace_back(name, parameter_value(text));
  }
  return values;
}

// Each parameter with every value that some entry has, numbers in their order and then texts in theirs.
std::vector<SpaceParameter> parameters_of(const std::vector<Named>& all) {
  std::vector<SpaceParameter> parameters;
  for (const auto& [name, value] : all.front()) parameters.push_back({.name = name, .values = {}});
  for (const Named& one : all) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (one.size() != parameters.size() || one[i].first != parameters[i].name) {
        throw Error("its configurations have not the same parameters");
      }
      auto& values = parameters[i].values;
      const auto same = [&](const Value& other) { return equal(one[i].second, other); };
      if (std::none_of(values.begin(), values.end(), same)) values.push_back(one[i].second);
    }
  }
  for (SpaceParameter& parameter : parameters) {
    std::sort(parameter.values.begin(), parameter.values.end(), [](const Value& a, const Value& b) {
      if (is_number(a) != is_number(b)) return is_number(a);
      return is_number(a) ? as_number(a) < as_number(b) : to_text(a) < to_text(b);
    });
  }
  return parameters;
}

// Who passed in the search and failed in its final has failed; what it cost stands.
void apply_finals(std::vector<TuningEntry>& entries) {
  std::map<std::pair<std::string, std::string>, TuningEntry*> searched;
  for (TuningEntry& entry : entries) {
    TuningEntry*& last = searched[{entry.variant, entry.configuration}];
    if (entry.stage == "search") {
      last = &entry;
    } else if (entry.outcome != "passed" && last != nullptr && last->basis == entry.basis) {
      last->outcome = entry.outcome;
      last->reason = entry.reason;
      last->median_ns = 0.0;
      last->samples_ns.clear();
    }
  }
}

RecordedSpace space_of(const TuningTarget& target, const std::string& variant,
                       const std::vector<const TuningEntry*>& entries) {
  std::map<std::string, const TuningEntry*> last;
  for (const TuningEntry* entry : entries) last[entry->configuration] = entry;
  std::vector<Named> all;
  std::vector<const TuningEntry*> kept;
  for (const TuningEntry* entry : entries) {
    if (last.at(entry->configuration) != entry) continue;
    all.push_back(values_of(*entry));
    kept.push_back(entry);
  }
  std::vector<SpaceParameter> parameters = parameters_of(all);
  std::vector<RecordedRow> rows;
  std::vector<SearchSpace::Place> begin;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    RecordedRow row{.row = {}, .observation = observation_of(*kept[i])};
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      row.row.push_back(require_place(parameters[k], all[i][k].second));
    }
    // A search begins with the default, whatever its strategy.
    if (kept[i]->configuration == entries.front()->configuration) begin = row.row;
    rows.push_back(std::move(row));
  }
  RecordedSpace recorded = assemble(target.operator_name + " " + variant, target.device_name,
                                    std::move(parameters), std::move(rows));
  recorded.begin = recorded.space.index_of(begin);
  return recorded;
}

}  // namespace

std::vector<NamedSpace> read_log_spaces(const std::string& path, const std::string& text,
                                        const std::string& filter) {
  TuningHistory history = parse_tuning_log(path, text);
  apply_finals(history.entries);
  std::regex wanted;
  try {
    wanted = std::regex(filter, std::regex::ECMAScript);
  } catch (const std::regex_error&) {
    throw Error("--filter '{}' is not a regular expression (ECMAScript)", filter);
  }
  std::map<std::string, const TuningBasis*> basis;
  std::vector<std::string> variants;
  for (const TuningEntry& entry : history.entries) {
    if (entry.stage != "search") continue;
    if (!basis.contains(entry.variant)) variants.push_back(entry.variant);
    basis[entry.variant] = &entry.basis;
  }
  std::vector<NamedSpace> spaces;
  for (const std::string& variant : variants) {
    if (!std::regex_search(history.target.operator_name + " " + variant, wanted)) continue;
    std::vector<const TuningEntry*> entries;
    for (const TuningEntry& entry : history.entries) {
      const bool counts = entry.stage == "search" && entry.variant == variant;
      if (counts && entry.basis == *basis.at(variant)) entries.push_back(&entry);
    }
    try {
      spaces.push_back({variant, space_of(history.target, variant, entries)});
    } catch (const Error& error) {
      throw Error("{}: variant {}: {}; --filter chooses others", path, variant, error.what());
    }
  }
  if (spaces.empty()) throw Error("{} has no variant that --filter '{}' finds", path, filter);
  return spaces;
}

}  // namespace fusebench
