#include "harness/tune/product_kernel.hpp"

#include <algorithm>
#include <cmath>

namespace fusebench {
namespace {

std::vector<double> logarithms(const SpaceParameter& parameter) {
  std::vector<double> result;
  for (const Value& value : parameter.values)
    result.push_back(std::log(static_cast<double>(as_number(value))));
  return result;
}

}  // namespace

bool ProductKernel::is_magnitude(const SearchSpace& space, std::size_t parameter) {
  constexpr std::size_t most_values = 64;
  if (!space.is_ordinal(parameter)) return false;
  const std::vector<Value>& values = space.parameters()[parameter].values;
  // They rise or fall, so the ends tell of all.
  return values.size() <= most_values && as_number(values.front()) > 0.0 &&
         as_number(values.back()) > 0.0;
}

ProductKernel::ProductKernel(const SearchSpace& space, std::size_t first, std::size_t second)
    : first_(first), second_(second), seconds_(space.parameters()[second].values.size()) {
  constexpr double same = 1e-9;
  const std::vector<double> a = logarithms(space.parameters()[first]);
  const std::vector<double> b = logarithms(space.parameters()[second]);
  const double range = std::max(std::abs(a.back() - a.front()), std::abs(b.back() - b.front()));
  for (const double of_first : a) {
    for (const double of_second : b) {
      const double product = (of_first + of_second) / range;
      const auto found = std::find_if(products_.begin(), products_.end(), [&](double other) {
        return std::abs(other - product) < same;
      });
      codes_.push_back(static_cast<std::size_t>(found - products_.begin()));
      if (found == products_.end()) products_.push_back(product);
    }
  }
  table_.assign(products_.size() * products_.size(), 1.0F);
}

void ProductKernel::set(double length, Smoothness smoothness) {
  length_ = length;
  const std::size_t count = products_.size();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < count; ++k) {
      const double distance = std::abs(products_[i] - products_[k]) / length;
      table_[i * count + k] = static_cast<float>(matern(distance, smoothness));
    }
  }
}

}  // namespace fusebench
