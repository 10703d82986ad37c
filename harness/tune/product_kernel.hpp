// How much alike configurations are by the product of two of their parameters.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/tune/parameter_kernel.hpp"
#include "harness/tune/search_space.hpp"

namespace fusebench {

/// Threads times items, or a tile's bytes times its copies, often say more than either: the fast lie along a
/// diagonal. A Matern kernel over the distance of the products' logarithms, as a fraction of the wider of the
/// two parameters' ranges. Without effect until it has a length.
class ProductKernel {
 public:
  /// Both parameters are magnitudes, and first is not second.
  ProductKernel(const SearchSpace& space, std::size_t first, std::size_t second);
  /// Ordinal, above 0, and of at most 64 values, so that tables stay small.
  [[nodiscard]] static bool is_magnitude(const SearchSpace& space, std::size_t parameter);

  void set(double length, Smoothness smoothness);
  [[nodiscard]] double length() const { return length_; }
  [[nodiscard]] std::size_t first() const { return first_; }
  [[nodiscard]] std::size_t second() const { return second_; }
  [[nodiscard]] float at(SearchSpace::Row a, SearchSpace::Row b) const {
    return table_[code(a) * products_.size() + code(b)];
  }

 private:
  [[nodiscard]] std::size_t code(SearchSpace::Row row) const {
    return codes_[row[first_] * seconds_ + row[second_]];
  }

  std::size_t first_;
  std::size_t second_;
  std::size_t seconds_;             // values of the second parameter
  std::vector<std::size_t> codes_;  // by both places: which product it is
  std::vector<double> products_;    // their scaled logarithms
  double length_ = 0.0;
  std::vector<float> table_;
};

}  // namespace fusebench
