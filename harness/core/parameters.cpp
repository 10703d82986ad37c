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

Value parameter_value(const std::string& text) {
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  // "007" must remain itself.
  const bool same =
      error == std::errc() && end == text.data() + text.size() && std::to_string(whole) == text;
  if (same) return whole;
  return text;
}

ParameterSpace::ParameterSpace(std::vector<Parameter> parameters,
                               const std::vector<std::string>& constraints)
    : parameters_(std::move(parameters)) {
  for (const std::string& text : constraints) constraints_.emplace_back(text);
  for (auto it = parameters_.begin(); it != parameters_.end(); ++it) {
    if (std::find(it->values.begin(), it->values.end(), it->default_value) == it->values.end()) {
      throw Error("parameter '{}': its default '{}' is not among its values", it->name,
                  it->default_value);
    }
    const bool twice = std::any_of(parameters_.begin(), it,
                                   [&](const Parameter& other) { return other.name == it->name; });
    if (twice) throw Error("parameter '{}' is declared twice", it->name);
  }
  if (const std::string broken = broken_by(default_configuration()); !broken.empty()) {
    throw Error("the default configuration '{}' breaks the variant's own constraint {}",
                default_configuration().to_string(), broken);
  }
}

std::string ParameterSpace::broken_by(const Configuration& configuration,
                                      const Properties& properties) const {
  for (const Expression& constraint : constraints_) {
    std::vector<Value> values;
    std::vector<std::string> told;
    for (const std::string& name : constraint.names()) {
      const auto& chosen = configuration.values();
      const auto parameter = std::find_if(chosen.begin(), chosen.end(),
                                          [&](const auto& one) { return one.first == name; });
      if (parameter != chosen.end()) {
        values.push_back(parameter_value(parameter->second));
      } else if (const auto property = properties.find(name); property != properties.end()) {
        values.push_back(property->second);
        told.push_back(fmt::format("{} is {}", name, to_text(property->second)));
      } else {
        break;
      }
    }
    if (values.size() < constraint.names().size() || is_true(constraint.evaluate(values))) continue;
    return fmt::format("'{}'{}", constraint.text(),
                       told.empty() ? "" : fmt::format(" ({})", fmt::join(told, ", ")));
  }
  return "";
}

Configuration ParameterSpace::default_configuration() const {
  std::vector<std::pair<std::string, std::string>> values;
  for (const Parameter& parameter : parameters_) {
    values.emplace_back(parameter.name, parameter.default_value);
  }
  return Configuration(std::move(values));
}

std::vector<Configuration> ParameterSpace::product(
    const std::vector<std::vector<std::string>>& values, const Properties& properties) const {
  std::vector<Configuration> found;
  std::vector<std::size_t> choice(parameters_.size(), 0);
  for (;;) {
    std::vector<std::pair<std::string, std::string>> chosen;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      chosen.emplace_back(parameters_[i].name, values[i][choice[i]]);
    }
    Configuration configuration(std::move(chosen));
    if (broken_by(configuration, properties).empty()) found.push_back(std::move(configuration));
    std::size_t position = parameters_.size();
    while (position > 0 && ++choice[position - 1] == values[position - 1].size()) {
      choice[--position] = 0;
    }
    if (position == 0) return found;
  }
}

std::vector<Configuration> ParameterSpace::all(const Properties& properties) const {
  std::vector<std::vector<std::string>> values;
  for (const Parameter& parameter : parameters_) values.push_back(parameter.values);
  return product(values, properties);
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

Configuration ParameterSpace::parse(std::string_view text, const Properties& properties) const {
  auto values = default_configuration().values();
  const std::string_view changes = text == "default" ? "" : text;
  for (const auto& [key, value] : parse_key_values("configuration", changes)) {
    const std::size_t i = position(key);
    require(parameters_[i], value);
    values[i].second = value;
  }
  Configuration configuration(std::move(values));
  if (const std::string broken = broken_by(configuration, properties); !broken.empty()) {
    throw Error("configuration '{}' breaks the variant's constraint {}", configuration.to_string(),
                broken);
  }
  return configuration;
}

std::vector<Configuration> ParameterSpace::select(std::string_view text,
                                                  const Properties& properties) const {
  if (text == "default") return {parse(text, properties)};
  if (text == "all") return all(properties);
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
  std::vector<Configuration> found = product(values, properties);
  if (!found.empty()) return found;
  std::vector<std::pair<std::string, std::string>> first;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    first.emplace_back(parameters_[i].name, values[i].front());
  }
  throw Error("configuration '{}' breaks the variant's constraint {}", text,
              broken_by(Configuration(std::move(first)), properties));
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
