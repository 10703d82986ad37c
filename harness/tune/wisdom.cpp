#include "harness/tune/wisdom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "harness/core/error.hpp"
#include "harness/core/parameters.hpp"
#include "harness/tune/json_value.hpp"
#include "harness/tune/text_file.hpp"

namespace fusebench {
namespace {

using nlohmann::ordered_json;

constexpr int version = 1;

double number_at(const ordered_json& json, const char* key) {
  const ordered_json& number = member(json, key);
  if (!number.is_number() || !(number.get<double>() >= 0.0)) {
    throw Error("'{}' is no number of at least 0", key);
  }
  return number.get<double>();
}

// "n=16,c=64" as sizes; empty where it is no such text.
std::map<std::string, double> sizes_of(const std::string& problem) {
  std::map<std::string, double> sizes;
  try {
    for (const auto& [name, value] : parse_key_values("problem", problem)) {
      sizes[name] = static_cast<double>(parse_integer(name, value));
    }
  } catch (const Error&) {
    sizes.clear();
  }
  return sizes;
}

// 0 for the same sizes; infinite where the problems have not the same names.
double distance(const std::string& one, const std::string& other) {
  if (one == other) return 0.0;
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto a = sizes_of(one);
  const auto b = sizes_of(other);
  if (a.empty() || a.size() != b.size()) return infinite;
  double sum = 0.0;
  for (const auto& [name, size] : a) {
    const auto found = b.find(name);
    if (found == b.end()) return infinite;
    // A size may be 0, such as a padding.
    sum += std::abs(std::log((size + 1.0) / (found->second + 1.0)));
  }
  return sum;
}

bool is_valid(const Wisdom& wisdom, const ParameterSpace& space, const Properties& properties) {
  try {
    return space.parse(wisdom.configuration, properties).to_string() == wisdom.configuration;
  } catch (const Error&) {
    return false;
  }
}

// What is no longer as it was when a configuration was found best: it is valid still, and may not be the best.
std::string changed_since(const Wisdom& wisdom, const DeviceTraits& device,
                          const std::string& source) {
  std::string told;
  if (wisdom.source != source) told += ", of other sources of the variant";
  if (wisdom.device_name != device.name) return told;
  if (wisdom.toolkit != device.toolkit) told += ", of another toolkit: " + wisdom.toolkit;
  if (wisdom.driver != device.driver) told += ", of another driver: " + wisdom.driver;
  return told;
}

}  // namespace

std::string wisdom_text(const Wisdom& wisdom) {
  const ordered_json json = {{"fusebench_wisdom", version},
                             {"operator", wisdom.operator_name},
                             {"variant", wisdom.variant},
                             {"device", wisdom.device},
                             {"device_name", wisdom.device_name},
                             {"architecture", wisdom.architecture},
                             {"problem", wisdom.problem},
                             {"configuration", wisdom.configuration},
                             {"median_ns", wisdom.median_ns},
                             {"default_over_best", wisdom.default_over_best},
                             {"ties", wisdom.ties},
                             {"measured", wisdom.measured},
                             {"space", wisdom.space},
                             {"source", wisdom.source},
                             {"driver", wisdom.driver},
                             {"toolkit", wisdom.toolkit},
                             {"git_commit", wisdom.git_commit},
                             {"timestamp", wisdom.timestamp}};
  return json.dump(2) + "\n";
}

Wisdom parse_wisdom(const std::string& path, const std::string& text) {
  try {
    const auto json = parse_json<ordered_json>(path, text);
    if (!json.is_object() || json.value("fusebench_wisdom", 0) != version) {
      throw Error("it is no wisdom of version {}", version);
    }
    Wisdom wisdom;
    wisdom.operator_name = text_at(json, "operator");
    wisdom.variant = text_at(json, "variant");
    wisdom.device = text_at(json, "device");
    wisdom.device_name = text_at(json, "device_name");
    wisdom.architecture = text_at(json, "architecture");
    wisdom.problem = text_at(json, "problem");
    wisdom.configuration = text_at(json, "configuration");
    wisdom.median_ns = number_at(json, "median_ns");
    wisdom.default_over_best = number_at(json, "default_over_best");
    for (const ordered_json& tie : array_at(json, "ties")) {
      if (!tie.is_string()) throw Error("'ties' has {}, no text", tie.dump());
      wisdom.ties.push_back(tie.get<std::string>());
    }
    wisdom.measured = static_cast<std::size_t>(number_at(json, "measured"));
    wisdom.space = static_cast<std::size_t>(number_at(json, "space"));
    wisdom.source = text_at(json, "source");
    wisdom.driver = text_at(json, "driver");
    wisdom.toolkit = text_at(json, "toolkit");
    wisdom.git_commit = text_at(json, "git_commit");
    wisdom.timestamp = text_at(json, "timestamp");
    return wisdom;
  } catch (const nlohmann::json::exception&) {
    throw Error("{}: 'fusebench_wisdom' is no version; take the file away", path);
  } catch (const Error& error) {
    const bool named = std::string_view(error.what()).starts_with(path);
    throw Error("{}{}; take the file away", named ? "" : path + ": ", error.what());
  }
}

std::string wisdom_file_name(const Wisdom& wisdom) {
  std::string name = fmt::format("{}.{}.{}.{}.json", wisdom.operator_name, wisdom.variant,
                                 wisdom.device_name, wisdom.problem);
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
    if (!plain) c = '_';
  }
  return name;
}

WisdomFolder read_wisdom(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code failed;
  std::vector<std::string> paths;
  for (fs::directory_iterator at(folder, failed); !failed && at != fs::directory_iterator();
       at.increment(failed)) {
    if (at->path().extension() == ".json") paths.push_back(at->path().string());
  }
  if (failed == std::errc::no_such_file_or_directory) return {};
  if (failed) {
    throw Error("cannot read the folder of wisdom {}: {}; choose another with --wisdom", folder,
                failed.message());
  }
  std::sort(paths.begin(), paths.end());
  WisdomFolder found;
  for (const std::string& path : paths) {
    try {
      found.known.push_back(parse_wisdom(path, read_text_file(path)));
    } catch (const Error& error) {
      found.unreadable.emplace_back(error.what());
    }
  }
  return found;
}

WisdomMatch match_wisdom(const std::vector<Wisdom>& all, const VariantInfo& variant,
                         const std::string& problem, const std::optional<DeviceTraits>& device,
                         const Properties& properties, const std::string& source) {
  if (!device) return {"default", "default: there is no such device here"};
  const std::string architecture = device->architecture ? device->architecture->to_string() : "";
  const Wisdom* best = nullptr;
  // Another device, then the distance of the problems, then other sources.
  std::tuple<bool, double, bool> least;
  bool passed_over = false;
  for (const Wisdom& wisdom : all) {
    if (wisdom.operator_name != variant.operator_name || wisdom.variant != variant.name) continue;
    if (wisdom.device != to_string(variant.device)) continue;
    const bool other = wisdom.device_name != device->name;
    if (other && (architecture.empty() || wisdom.architecture != architecture)) continue;
    const double far = distance(wisdom.problem, problem);
    if (!std::isfinite(far)) continue;
    const std::tuple key(other, far, wisdom.source != source);
    if (!is_valid(wisdom, variant.parameters, properties)) {
      passed_over = true;
      continue;
    }
    if (best != nullptr && !(key < least)) continue;
    best = &wisdom;
    least = key;
  }
  if (best == nullptr) {
    return {"default", passed_over ? "default: what is known is no configuration here any more"
                                   : "default: nothing is known"};
  }
  const bool same_problem = best->problem == problem;
  std::string told = "exact";
  if (std::get<0>(least)) {
    told = fmt::format("other device of {}: {}{}", architecture, best->device_name,
                       same_problem ? "" : ", other problem: " + best->problem);
  } else if (!same_problem) {
    told = "other problem: " + best->problem;
  }
  return {best->configuration, told + changed_since(*best, *device, source)};
}

}  // namespace fusebench
