#include "harness/tune/t1.hpp"

#include <nlohmann/json.hpp>

#include "harness/core/error.hpp"
#include "harness/tune/json_value.hpp"
#include "harness/tune/text_file.hpp"
#include "harness/tune/tuning_log.hpp"

namespace fusebench {
namespace {

using nlohmann::json;

SpaceParameter parameter_of(const json& entry) {
  SpaceParameter parameter{.name = text_at(entry, "Name")};
  const json& values = member(entry, "Values");
  if (values.is_string()) {
    parameter.values = parse_value_list(fmt::format("parameter '{}': the list", parameter.name),
                                        values.get<std::string>());
  } else if (values.is_array()) {
    for (const json& value : values) parameter.values.push_back(value_of(value));
  } else {
    throw Error("parameter '{}': its Values are no list", parameter.name);
  }
  return parameter;
}

Properties properties_of(const json& document) {
  Properties properties;
  const json sizes = document.value("/KernelSpecification/ProblemSize"_json_pointer, json::array());
  const char* const names[] = {"problem_size_x", "problem_size_y", "problem_size_z"};
  for (std::size_t i = 0; sizes.is_array() && i < sizes.size() && i < std::size(names); ++i) {
    if (sizes[i].is_number()) properties[names[i]] = value_of(sizes[i]);
  }
  return properties;
}

SearchSpace space_of(const json& document) {
  const json& space = member(document, "ConfigurationSpace");
  std::vector<SpaceParameter> parameters;
  for (const json& entry : array_at(space, "TuningParameters")) {
    parameters.push_back(parameter_of(entry));
  }
  std::vector<std::string> constraints;
  if (space.contains("Conditions")) {
    for (const json& entry : array_at(space, "Conditions")) {
      constraints.push_back(text_at(entry, "Expression"));
    }
  }
  return {std::move(parameters), constraints, properties_of(document)};
}

}  // namespace

SearchSpace read_t1(const std::string& path) {
  const std::string text = read_text_file(path);
  const auto refuse_recorded = [&](const char* what) {
    throw Error("{} is no T1 file but {}; replay it with --replay", path, what);
  };
  if (is_tuning_log(text)) refuse_recorded("a tuning log");
  const auto document = parse_json<json>(path, text);
  if (!document.is_object() || !document.contains("ConfigurationSpace")) {
    if (document.is_object() && document.contains("cache")) refuse_recorded("a Kernel Tuner cache");
    if (document.is_object() && document.contains("results")) refuse_recorded("a T4 file");
    throw Error("{} is no T1 file: it has no ConfigurationSpace", path);
  }
  try {
    return space_of(document);
  } catch (const Error& error) {
    throw Error("{}: {}", path, error.what());
  } catch (const json::exception& error) {
    throw Error("{} is no T1 file: {}", path, error.what());
  }
}

}  // namespace fusebench
