#include "harness/tune/variant_space.hpp"

#include <algorithm>
#include <charconv>

namespace fusebench {
namespace {

Value value_of(const std::string& text) {
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  // "007" must remain itself.
  const bool same =
      error == std::errc() && end == text.data() + text.size() && std::to_string(whole) == text;
  if (same) return whole;
  return text;
}

}  // namespace

SearchSpace variant_space(const ParameterSpace& parameters) {
  std::vector<SpaceParameter> spaces;
  for (const Parameter& parameter : parameters.parameters()) {
    SpaceParameter one{.name = parameter.name, .values = {}};
    for (const std::string& text : parameter.values) one.values.push_back(value_of(text));
    spaces.push_back(std::move(one));
  }
  std::vector<std::vector<SearchSpace::Place>> rows;
  for (const Configuration& configuration : parameters.all()) {
    std::vector<SearchSpace::Place> row;
    for (std::size_t i = 0; i < configuration.values().size(); ++i) {
      const auto& values = parameters.parameters()[i].values;
      const auto found = std::find(values.begin(), values.end(), configuration.values()[i].second);
      row.push_back(static_cast<SearchSpace::Place>(found - values.begin()));
    }
    rows.push_back(std::move(row));
  }
  return SearchSpace::of_rows(std::move(spaces), rows);
}

}  // namespace fusebench
