// Kernel Tuner's cache files. Their times are milliseconds.
#include <map>
#include <nlohmann/json.hpp>

#include "harness/core/error.hpp"
#include "harness/tune/json_value.hpp"
#include "harness/tune/recorded_formats.hpp"
#include "harness/tune/text_file.hpp"

namespace fusebench {
namespace {

using nlohmann::json;

constexpr double ns_per_ms = 1e6;

// The names that Kernel Tuner gives to failures; another name is a failure at run time.
std::optional<Invalidity> invalidity_of(const std::string& failure) {
  if (failure.starts_with("InvalidConfig")) return std::nullopt;
  if (failure.starts_with("Compilation")) return Invalidity::compile;
  if (failure.starts_with("Correctness") || failure.starts_with("Verification")) {
    return Invalidity::correctness;
  }
  if (failure.starts_with("Timeout")) return Invalidity::timeout;
  return Invalidity::runtime;
}

double ns_at(const json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || found->is_null()) return 0.0;
  if (!found->is_number()) throw Error("'{}' is no number", key);
  const double ms = found->get<double>();
  if (!(ms >= 0.0)) throw Error("'{}' is {}, below 0", key, ms);
  return ms * ns_per_ms;
}

// Nothing where the configuration broke the constraints.
std::optional<Observation> observation_of(const json& entry, const std::string& objective) {
  Observation observation;
  const json& time = member(entry, objective);
  if (time.is_string()) {
    observation.failure = time.get<std::string>();
    const auto invalidity = invalidity_of(observation.failure);
    if (!invalidity) return std::nullopt;
    observation.invalidity = *invalidity;
  } else {
    observation.time_ns = ns_at(entry, objective.c_str());
    if (!(observation.time_ns > 0.0)) throw Error("'{}' is not above 0", objective);
  }
  if (entry.contains("times")) {
    for (const json& sample : array_at(entry, "times")) {
      if (!sample.is_number()) throw Error("'times' has {}, no number", sample.dump());
      observation.samples_ns.push_back(sample.get<double>() * ns_per_ms);
    }
  }
  observation.compile_ns = ns_at(entry, "compile_time");
  observation.verify_ns = ns_at(entry, "verification_time");
  observation.benchmark_ns = ns_at(entry, "benchmark_time");
  observation.search_ns = ns_at(entry, "strategy_time");
  observation.framework_ns = ns_at(entry, "framework_time");
  if (entry.contains("timestamp")) observation.timestamp = text_at(entry, "timestamp");
  return observation;
}

std::vector<SpaceParameter> parameters_of(const json& document) {
  std::vector<SpaceParameter> parameters;
  const json& values = member(document, "tune_params");
  for (const json& key : array_at(document, "tune_params_keys")) {
    SpaceParameter parameter{.name = key.get<std::string>(), .values = {}};
    for (const json& value : array_at(values, parameter.name)) {
      parameter.values.push_back(value_of(value));
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

RecordedRow row_of(const json& entry, const std::vector<SpaceParameter>& parameters,
                   Observation observation) {
  RecordedRow row{.row = {}, .observation = std::move(observation)};
  for (const SpaceParameter& parameter : parameters) {
    row.row.push_back(require_place(parameter, value_of(member(entry, parameter.name))));
  }
  return row;
}

// Kernel Tuner appends to the file while it tunes, and closes it at the end.
bool is_open(const std::string& text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return last != std::string::npos && text[last] == ',';
}

json parse_maybe_open(const std::string& path, const std::string& text) {
  if (!is_open(text)) return parse_json<json>(path, text);
  return parse_json<json>(path, text.substr(0, text.rfind(',')) + "}}");
}

}  // namespace

RecordedSpace read_kernel_tuner(const std::string& path, const std::string& text) {
  const json document = parse_maybe_open(path, text);
  if (!document.is_object() || !document.contains("cache") ||
      !document.contains("tune_params_keys")) {
    throw Error("{} is no Kernel Tuner cache: 'cache' or 'tune_params_keys' is missing", path);
  }
  try {
    const std::string objective = document.value("objective", "time");
    if (objective != "time") {
      throw Error("its objective is '{}'; only 'time' can be searched for", objective);
    }
    std::vector<SpaceParameter> parameters = parameters_of(document);
    std::vector<RecordedRow> rows;
    const json& cache = document["cache"];
    for (const auto& [key, entry] : cache.items()) {
      try {
        auto observation = observation_of(entry, objective);
        if (observation) rows.push_back(row_of(entry, parameters, std::move(*observation)));
      } catch (const Error& error) {
        throw Error("entry '{}': {}", key, error.what());
      }
    }
    RecordedSpace recorded =
        assemble(document.value("kernel_name", ""), document.value("device_name", ""),
                 std::move(parameters), std::move(rows));
    recorded.unclosed = is_open(text);
    return recorded;
  } catch (const json::exception& error) {
    throw Error("{} is no Kernel Tuner cache: {}", path, error.what());
  }
}

SearchSpace::Place require_place(const SpaceParameter& parameter, const Value& value) {
  for (std::size_t i = 0; i < parameter.values.size(); ++i) {
    if (equal(parameter.values[i], value)) return static_cast<SearchSpace::Place>(i);
  }
  throw Error("parameter '{}' has no value {}", parameter.name, to_text(value));
}

RecordedSpace assemble(std::string kernel, std::string device,
                       std::vector<SpaceParameter> parameters, std::vector<RecordedRow> rows) {
  std::vector<std::vector<SearchSpace::Place>> places;
  bool any_passed = false;
  for (const RecordedRow& row : rows) {
    places.push_back(row.row);
    any_passed = any_passed || row.observation.passed();
  }
  if (!any_passed) throw Error("no configuration in it passed: there is nothing to search for");
  RecordedSpace recorded{.kernel = std::move(kernel),
                         .device = std::move(device),
                         .space = SearchSpace::of_rows(std::move(parameters), places),
                         .observations = {},
                         .unclosed = false};
  recorded.observations.resize(rows.size());
  for (RecordedRow& row : rows) {
    recorded.observations[recorded.space.index_of(row.row).value()] = std::move(row.observation);
  }
  return recorded;
}

}  // namespace fusebench
