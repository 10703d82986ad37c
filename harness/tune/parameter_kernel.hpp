// How much alike two values of a parameter are taken to be.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/tune/search_space.hpp"

namespace fusebench {

/// How smooth the times are taken to be along a parameter: a Matern kernel's nu.
enum class Smoothness { half, three_halves, five_halves };

/// The Matern kernel of nu over a distance in lengths; Rasmussen and Williams, Gaussian Processes for Machine
/// Learning, 2006, equations 4.17 and after.
[[nodiscard]] double matern(double distance, Smoothness smoothness);

/// How much alike two values of one parameter are, between 0 and 1, by their places: a Matern kernel over the
/// distance of the places in an ordinal parameter, and over 0 or 1 in another. A fiftieth is each value's
/// own, since sizes that divide something stand out from those beside them.
class ParameterKernel {
 public:
  static constexpr double usual_length = 0.75;

  ParameterKernel(const SearchSpace& space, std::size_t parameter);
  /// The length is a fraction of the parameter's range.
  void set(double length, Smoothness smoothness);
  [[nodiscard]] double length() const { return length_; }
  [[nodiscard]] Smoothness smoothness() const { return smoothness_; }
  [[nodiscard]] std::size_t parameter() const { return parameter_; }
  [[nodiscard]] float at(SearchSpace::Place a, SearchSpace::Place b) const {
    return table_[a * count_ + b];
  }

 private:
  std::size_t parameter_;
  std::size_t count_;
  bool ordinal_;
  double length_ = 0.0;
  Smoothness smoothness_ = Smoothness::half;
  std::vector<float> table_;
};

}  // namespace fusebench
