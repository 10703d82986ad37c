#include "harness/core/parameters.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

std::string names_of(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) names.push_back(parameter.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::int64_t Configuration::integer(std::string_view name) const {
  return parse_integer(name, text(name));
}

const std::string& Configuration::text(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  throw Error("configuration '{}' has no parameter '{}'", to_string(), name);
}

std::string Configuration::to_string() const {
  if (values_.empty()) return "default";
  std::vector<std::string> parts;
  for (const auto& [key, value] : values_) parts.push_back(key + "=" + value);
  return fmt::format("{}", fmt::join(parts, ","));
}

std::vector<std::string> integers(std::initializer_list<std::int64_t> values) {
  std::vector<std::string> texts;
  for (const std::int64_t value : values) texts.push_back(std::to_string(value));
  return texts;
}

ParameterSpace::ParameterSpace(std::vector<Parameter> parameters, Constraint valid)
    : parameters_(std::move(parameters)), valid_(std::move(valid)) {
  for (auto it = parameters_.begin(); it != parameters_.end(); ++it) {
    if (std::find(it->values.begin(), it->values.end(), it->default_value) == it->values.end()) {
      throw Error("parameter '{}': its default '{}' is not among its values", it->name,
                  it->default_value);
    }
    const bool twice = std::any_of(parameters_.begin(), it,
                                   [&](const Parameter& other) { return other.name == it->name; });
    if (twice) throw Error("parameter '{}' is declared twice", it->name);
  }
  if (valid_ && !valid_(default_configuration())) {
    throw Error("the default configuration '{}' breaks the variant's own constraint",
                default_configuration().to_string());
  }
}

Configuration ParameterSpace::default_configuration() const {
  std::vector<std::pair<std::string, std::string>> values;
  for (const Parameter& parameter : parameters_) {
    values.emplace_back(parameter.name, parameter.default_value);
  }
  return Configuration(std::move(values));
}

std::vector<Configuration> ParameterSpace::product(
    const std::vector<std::vector<std::string>>& values) const {
  std::vector<Configuration> found;
  std::vector<std::size_t> choice(parameters_.size(), 0);
  for (;;) {
    std::vector<std::pair<std::string, std::string>> chosen;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      chosen.emplace_back(parameters_[i].name, values[i][choice[i]]);
    }
    Configuration configuration(std::move(chosen));
    if (!valid_ || valid_(configuration)) found.push_back(std::move(configuration));
    std::size_t position = parameters_.size();
    while (position > 0 && ++choice[position - 1] == values[position - 1].size()) {
      choice[--position] = 0;
    }
    if (position == 0) return found;
  }
}

std::vector<Configuration> ParameterSpace::all() const {
  std::vector<std::vector<std::string>> values;
  for (const Parameter& parameter : parameters_) values.push_back(parameter.values);
  return product(values);
}

std::size_t ParameterSpace::position(std::string_view name) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].name == name) return i;
  }
  throw Error("no parameter '{}'; there is: {}", name, names_of(parameters_));
}

void ParameterSpace::require(const Parameter& parameter, std::string_view value) const {
  const auto& allowed = parameter.values;
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
    throw Error("parameter '{}' cannot be '{}'; it can be {}", parameter.name, value,
                fmt::join(allowed, ", "));
  }
}

Configuration ParameterSpace::parse(std::string_view text) const {
  if (text == "default") return default_configuration();
  auto values = default_configuration().values();
  for (const auto& [key, value] : parse_key_values("configuration", text)) {
    const std::size_t i = position(key);
    require(parameters_[i], value);
    values[i].second = value;
  }
  Configuration configuration(std::move(values));
  if (valid_ && !valid_(configuration)) {
    throw Error("configuration '{}' breaks the variant's constraint", configuration.to_string());
  }
  return configuration;
}

std::vector<Configuration> ParameterSpace::select(std::string_view text) const {
  if (text == "default") return {default_configuration()};
  if (text == "all") return all();
  std::vector<std::vector<std::string>> values;
  for (const Parameter& parameter : parameters_) values.push_back({parameter.default_value});
  for (const auto& [key, choices] : parse_key_values("configuration", text)) {
    const std::size_t i = position(key);
    if (choices == "*") {
      values[i] = parameters_[i].values;
      continue;
    }
    values[i].clear();
    for (std::string_view rest = choices;;) {
      const std::string_view value = rest.substr(0, rest.find('|'));
      require(parameters_[i], value);
      if (std::find(values[i].begin(), values[i].end(), value) == values[i].end()) {
        values[i].emplace_back(value);
      }
      if (value.size() == rest.size()) break;
      rest.remove_prefix(value.size() + 1);
    }
  }
  std::vector<Configuration> found = product(values);
  if (found.empty()) throw Error("configuration '{}' breaks the variant's constraint", text);
  return found;
}

std::vector<std::pair<std::string, std::string>> parse_key_values(std::string_view what,
                                                                  std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  if (text.empty()) return pairs;
  for (bool more = true; more;) {
    const std::string_view piece = text.substr(0, text.find(','));
    more = piece.size() < text.size();
    text.remove_prefix(more ? piece.size() + 1 : piece.size());
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      throw Error("{}: '{}' is not of the form key=value", what, piece);
    }
    const std::string_view key = piece.substr(0, equals);
    if (std::any_of(pairs.begin(), pairs.end(),
                    [&](const auto& pair) { return pair.first == key; })) {
      throw Error("{}: '{}' is given twice", what, key);
    }
    pairs.emplace_back(key, piece.substr(equals + 1));
  }
  return pairs;
}

std::int64_t parse_integer(std::string_view what, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw Error("{}: '{}' is not a whole number", what, text);
  }
  return value;
}

}  // namespace fusebench
