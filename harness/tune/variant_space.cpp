#include "harness/tune/variant_space.hpp"

#include <algorithm>

#include "harness/core/error.hpp"

namespace fusebench {

SearchSpace variant_space(const ParameterSpace& parameters, const Properties& properties) {
  std::vector<SpaceParameter> spaces;
  for (const Parameter& parameter : parameters.parameters()) {
    SpaceParameter one{.name = parameter.name, .values = {}};
    for (const std::string& text : parameter.values) one.values.push_back(parameter_value(text));
    spaces.push_back(std::move(one));
  }
  std::vector<std::string> constraints;
  for (const Expression& constraint : parameters.constraints()) {
    const auto is_known = [&](const std::string& name) {
      return properties.contains(name) ||
             std::any_of(spaces.begin(), spaces.end(),
                         [&](const SpaceParameter& one) { return one.name == name; });
    };
    if (std::all_of(constraint.names().begin(), constraint.names().end(), is_known)) {
      constraints.push_back(constraint.text());
    }
  }
  return SearchSpace(std::move(spaces), constraints, properties);
}

std::optional<std::size_t> index_of(const SearchSpace& space, const std::string& configuration) {
  std::vector<SearchSpace::Place> row;
  try {
    for (const auto& [name, text] : parse_key_values("configuration", configuration)) {
      if (row.size() == space.parameters().size()) return std::nullopt;
      if (space.parameters()[row.size()].name != name) return std::nullopt;
      const auto place = space.place_of(row.size(), parameter_value(text));
      if (!place) return std::nullopt;
      row.push_back(*place);
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return row.size() == space.parameters().size() ? space.index_of(row) : std::nullopt;
}

}  // namespace fusebench
