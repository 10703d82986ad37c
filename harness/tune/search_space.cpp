#include "harness/tune/search_space.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "harness/core/error.hpp"
#include "harness/tune/enumeration.hpp"

namespace fusebench {
namespace {

bool is_sequence(const std::vector<Value>& values) {
  if (values.size() < 3) return false;
  if (!std::all_of(values.begin(), values.end(), is_number)) return false;
  const bool rises = as_number(values[1]) > as_number(values[0]);
  for (std::size_t i = 1; i < values.size(); ++i) {
    if ((as_number(values[i]) > as_number(values[i - 1])) != rises) return false;
  }
  return true;
}

}  // namespace

SearchSpace::SearchSpace(std::vector<SpaceParameter> parameters)
    : parameters_(std::move(parameters)) {
  check_parameters();
}

SearchSpace::SearchSpace(std::vector<SpaceParameter> parameters,
                         const std::vector<std::string>& constraints, const Properties& properties)
    : SearchSpace(std::move(parameters)) {
  rows_ = enumerate(parameters_, constraints, properties);
  sort_rows();
}

SearchSpace SearchSpace::of_rows(std::vector<SpaceParameter> parameters,
                                 const std::vector<std::vector<Place>>& rows) {
  if (rows.empty()) throw Error("the space has no configuration");
  SearchSpace space(std::move(parameters));
  for (const auto& row : rows) space.rows_.insert(space.rows_.end(), row.begin(), row.end());
  space.sort_rows();
  for (std::size_t i = 1; i < space.size(); ++i) {
    if (std::ranges::equal(space.row(i - 1), space.row(i))) {
      throw Error("configuration '{}' is there twice", space.to_string(i));
    }
  }
  return space;
}

void SearchSpace::check_parameters() {
  if (parameters_.empty()) throw Error("the space has no parameter");
  std::set<std::string> names;
  for (const SpaceParameter& parameter : parameters_) {
    if (!names.insert(parameter.name).second) {
      throw Error("parameter '{}' is declared twice", parameter.name);
    }
    const std::vector<Value>& values = parameter.values;
    if (values.empty()) throw Error("parameter '{}' has no values", parameter.name);
    if (values.size() > std::numeric_limits<Place>::max()) {
      throw Error("parameter '{}' has {} values; at most 65535 can be told apart", parameter.name,
                  values.size());
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (equal(values[i], values[k])) {
          throw Error("parameter '{}' has the value {} twice", parameter.name, to_text(values[i]));
        }
      }
    }
    ordinal_.push_back(is_sequence(values));
  }
  width_ = parameters_.size();
}

void SearchSpace::sort_rows() {
  std::vector<const Place*> order(size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = rows_.data() + i * width_;
  const auto before = [this](const Place* a, const Place* b) {
    return std::lexicographical_compare(a, a + width_, b, b + width_);
  };
  if (std::is_sorted(order.begin(), order.end(), before)) return;
  std::sort(order.begin(), order.end(), before);
  std::vector<Place> sorted;
  sorted.reserve(rows_.size());
  for (const Place* row : order) sorted.insert(sorted.end(), row, row + width_);
  rows_ = std::move(sorted);
}

double SearchSpace::raw_size() const {
  double product = 1.0;
  for (const SpaceParameter& parameter : parameters_)
    product *= static_cast<double>(parameter.values.size());
  return product;
}

std::vector<Value> SearchSpace::values(std::size_t index) const {
  std::vector<Value> values;
  for (std::size_t i = 0; i < width_; ++i) values.push_back(parameters_[i].values[row(index)[i]]);
  return values;
}

std::string SearchSpace::to_string(std::size_t index) const {
  std::string text;
  for (std::size_t i = 0; i < width_; ++i) {
    text += (i == 0 ? "" : ",") + parameters_[i].name + "=" +
            to_text(parameters_[i].values[row(index)[i]]);
  }
  return text;
}

std::optional<std::size_t> SearchSpace::index_of(Row sought) const {
  std::size_t low = 0;
  std::size_t high = size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (std::ranges::lexicographical_compare(row(middle), sought)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == size() || !std::ranges::equal(row(low), sought)) return std::nullopt;
  return low;
}

std::optional<SearchSpace::Place> SearchSpace::place_of(std::size_t parameter,
                                                        const Value& value) const {
  const std::vector<Value>& values = parameters_[parameter].values;
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const Value& other) { return equal(value, other); });
  if (found == values.end()) return std::nullopt;
  return static_cast<Place>(found - values.begin());
}

std::vector<std::size_t> SearchSpace::neighbours(std::size_t index) const {
  std::vector<Place> other(row(index).begin(), row(index).end());
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < width_; ++i) {
    const Place own = other[i];
    for (std::size_t place = 0; place < parameters_[i].values.size(); ++place) {
      if (place == own) continue;
      other[i] = static_cast<Place>(place);
      if (const auto at = index_of(other)) found.push_back(*at);
    }
    other[i] = own;
  }
  return found;
}

std::vector<std::size_t> SearchSpace::near_neighbours(std::size_t index) const {
  std::vector<std::size_t> near;
  for (const std::size_t other : neighbours(index)) {
    std::size_t i = 0;
    while (row(other)[i] == row(index)[i]) ++i;
    const int step = std::abs(row(other)[i] - row(index)[i]);
    if (!ordinal_[i] || step == 1) near.push_back(other);
  }
  return near;
}

}  // namespace fusebench
