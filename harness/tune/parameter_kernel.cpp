#include "harness/tune/parameter_kernel.hpp"

#include <algorithm>
#include <cmath>

namespace fusebench {
namespace {

constexpr double own_share = 0.02;  // of a value alone

}  // namespace

double matern(double distance, Smoothness smoothness) {
  switch (smoothness) {
    case Smoothness::half: return std::exp(-distance);
    case Smoothness::three_halves: {
      const double scaled = std::sqrt(3.0) * distance;
      return (1.0 + scaled) * std::exp(-scaled);
    }
    case Smoothness::five_halves: break;
  }
  const double scaled = std::sqrt(5.0) * distance;
  return (1.0 + scaled + scaled * scaled / 3.0) * std::exp(-scaled);
}

ParameterKernel::ParameterKernel(const SearchSpace& space, std::size_t parameter)
    : parameter_(parameter),
      count_(space.parameters()[parameter].values.size()),
      ordinal_(space.is_ordinal(parameter)) {
  set(usual_length, Smoothness::half);
}

void ParameterKernel::set(double length, Smoothness smoothness) {
  length_ = length;
  smoothness_ = smoothness;
  table_.resize(count_ * count_);
  for (std::size_t a = 0; a < count_; ++a) {
    for (std::size_t b = 0; b < count_; ++b) {
      const auto apart = static_cast<double>(a > b ? a - b : b - a);
      const double distance =
          ordinal_ ? apart / static_cast<double>(count_ - 1) : std::min(apart, 1.0);
      const double shared = (1.0 - own_share) * matern(distance / length, smoothness);
      table_[a * count_ + b] = static_cast<float>(shared + (a == b ? own_share : 0.0));
    }
  }
}

}  // namespace fusebench
