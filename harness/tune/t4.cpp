// T4: results as autotuners exchange them.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/error.hpp"
#include "harness/tune/json_value.hpp"
#include "harness/tune/recorded_formats.hpp"
#include "harness/tune/text_file.hpp"

namespace fusebench {
namespace {

using nlohmann::ordered_json;

double unit_in_ns(const ordered_json& document) {
  const std::string unit =
      document.value("/metadata/timeunit"_json_pointer, std::string("milliseconds"));
  // The hub's own files spell it with one l.
  if (unit == "milliseconds" || unit == "miliseconds" || unit == "ms") return 1e6;
  if (unit == "seconds" || unit == "s") return 1e9;
  if (unit == "microseconds" || unit == "us") return 1e3;
  if (unit == "nanoseconds" || unit == "ns") return 1.0;
  throw Error("its timeunit '{}' is none of seconds, milliseconds, microseconds, nanoseconds",
              unit);
}

double ns_at(const ordered_json& times, const char* key, double unit_ns) {
  const auto found = times.find(key);
  if (found == times.end() || found->is_null()) return 0.0;
  if (!found->is_number() || !(found->get<double>() >= 0.0)) {
    throw Error("the time '{}' is {}, no number of at least 0", key, found->dump());
  }
  return found->get<double>() * unit_ns;
}

// The measurement that is the objective.
double time_of(const ordered_json& result, double unit_ns) {
  std::string objective = "time";
  if (result.contains("objectives")) {
    const ordered_json& objectives = array_at(result, "objectives");
    if (objectives.size() != 1 || !objectives[0].is_string() || objectives[0] != "time") {
      throw Error("its objectives are {}; only [\"time\"] can be searched for", objectives.dump());
    }
  }
  for (const ordered_json& measurement : array_at(result, "measurements")) {
    if (text_at(measurement, "name") != objective) continue;
    const ordered_json& value = member(measurement, "value");
    if (!value.is_number() || !(value.get<double>() > 0.0)) {
      throw Error("its measurement 'time' is {}, no number above 0", value.dump());
    }
    return value.get<double>() * unit_ns;
  }
  throw Error("it has no measurement 'time'");
}

Observation observation_of(const ordered_json& result, const std::string& invalidity,
                           double unit_ns) {
  Observation observation;
  observation.invalidity = parse_invalidity(invalidity);
  if (observation.passed()) {
    observation.time_ns = time_of(result, unit_ns);
  } else {
    observation.failure = invalidity;
    if (result.contains("measurements")) {
      for (const ordered_json& measurement : array_at(result, "measurements")) {
        const ordered_json& value = member(measurement, "value");
        if (value.is_string()) observation.failure = value.get<std::string>();
      }
    }
  }
  const ordered_json& times = member(result, "times");
  if (times.contains("runtimes")) {
    for (const ordered_json& sample : array_at(times, "runtimes")) {
      if (!sample.is_number()) throw Error("'runtimes' has {}, no number", sample.dump());
      observation.samples_ns.push_back(sample.get<double>() * unit_ns);
      observation.benchmark_ns += observation.samples_ns.back();
    }
  }
  // The format's text calls it compilation_time, files in use compilation.
  observation.compile_ns =
      ns_at(times, "compilation", unit_ns) + ns_at(times, "compilation_time", unit_ns);
  observation.verify_ns = ns_at(times, "validation", unit_ns);
  observation.search_ns = ns_at(times, "search_algorithm", unit_ns);
  observation.framework_ns = ns_at(times, "framework", unit_ns);
  if (result.contains("timestamp")) observation.timestamp = text_at(result, "timestamp");
  return observation;
}

// Each parameter with every value that some result has, numbers sorted.
std::vector<SpaceParameter> parameters_of(const ordered_json& results) {
  std::vector<SpaceParameter> parameters;
  for (const auto& [name, value] : member(results[0], "configuration").items()) {
    parameters.push_back({.name = name, .values = {}});
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ordered_json& configuration = member(results[i], "configuration");
    if (configuration.size() != parameters.size()) {
      throw Error("result {}: its configuration has {} parameters and the first {}", i,
                  configuration.size(), parameters.size());
    }
    for (SpaceParameter& parameter : parameters) {
      Value value = value_of(member(configuration, parameter.name));
      const auto same = [&](const Value& other) { return equal(value, other); };
      auto& values = parameter.values;
      if (std::none_of(values.begin(), values.end(), same)) values.push_back(std::move(value));
    }
  }
  for (SpaceParameter& parameter : parameters) {
    auto& values = parameter.values;
    if (!std::all_of(values.begin(), values.end(), is_number)) continue;
    std::sort(values.begin(), values.end(),
              [](const Value& a, const Value& b) { return as_number(a) < as_number(b); });
  }
  return parameters;
}

ordered_json json_of(const Value& value) {
  return std::visit([](const auto& held) { return ordered_json(held); }, value);
}

constexpr double ns_per_ms = 1e6;

ordered_json result_of(const RecordedSpace& recorded, std::size_t index) {
  const Observation& observation = recorded.observations[index];
  ordered_json result;
  result["timestamp"] = observation.timestamp;
  const std::vector<Value> values = recorded.space.values(index);
  for (std::size_t i = 0; i < values.size(); ++i) {
    result["configuration"][recorded.space.parameters()[i].name] = json_of(values[i]);
  }
  ordered_json& times = result["times"];
  times["compilation"] = observation.compile_ns / ns_per_ms;
  times["framework"] = observation.framework_ns / ns_per_ms;
  times["search_algorithm"] = observation.search_ns / ns_per_ms;
  times["validation"] = observation.verify_ns / ns_per_ms;
  times["runtimes"] = ordered_json::array();
  for (const double sample : observation.samples_ns)
    times["runtimes"].push_back(sample / ns_per_ms);
  result["invalidity"] = to_string(observation.invalidity);
  result["correctness"] = observation.passed() ? 1 : 0;
  result["measurements"] = ordered_json::array();
  if (observation.passed()) {
    result["measurements"].push_back(
        {{"name", "time"}, {"value", observation.time_ns / ns_per_ms}, {"unit", "milliseconds"}});
  }
  result["objectives"] = {"time"};
  return result;
}

}  // namespace

RecordedSpace read_t4(const std::string& path, const std::string& text) {
  const auto document = parse_json<ordered_json>(path, text);
  if (!document.is_object() || !document.contains("results") ||
      !document.contains("schema_version")) {
    throw Error("{} is no T4 file: 'results' or 'schema_version' is missing", path);
  }
  try {
    const std::string version = text_at(document, "schema_version");
    if (!version.starts_with("1.")) {
      throw Error("its schema_version is '{}'; 1.x is understood", version);
    }
    const ordered_json& results = array_at(document, "results");
    if (results.empty()) throw Error("it has no results");
    const double unit_ns = unit_in_ns(document);
    std::vector<SpaceParameter> parameters = parameters_of(results);
    std::vector<RecordedRow> rows;
    for (std::size_t i = 0; i < results.size(); ++i) {
      try {
        const std::string invalidity = text_at(results[i], "invalidity");
        if (invalidity == "constraints") continue;
        RecordedRow row{.row = {}, .observation = observation_of(results[i], invalidity, unit_ns)};
        for (const SpaceParameter& parameter : parameters) {
          row.row.push_back(require_place(
              parameter, value_of(member(results[i]["configuration"], parameter.name))));
        }
        rows.push_back(std::move(row));
      } catch (const Error& error) {
        throw Error("result {}: {}", i, error.what());
      }
    }
    return assemble(document.value("/metadata/kernel"_json_pointer, std::string()),
                    document.value("/metadata/device"_json_pointer, std::string()),
                    std::move(parameters), std::move(rows));
  } catch (const ordered_json::exception& error) {
    throw Error("{} is no T4 file: {}", path, error.what());
  }
}

std::string t4_text(const RecordedSpace& recorded) {
  const ordered_json metadata = {
      {"timeunit", "milliseconds"}, {"kernel", recorded.kernel}, {"device", recorded.device}};
  std::string text =
      "{\n\"schema_version\": \"1.0.0\",\n\"metadata\": " + metadata.dump() + ",\n\"results\": [\n";
  for (std::size_t i = 0; i < recorded.observations.size(); ++i) {
    text += (i == 0 ? "" : ",\n") + result_of(recorded, i).dump();
  }
  return text + "\n]\n}\n";
}

}  // namespace fusebench
