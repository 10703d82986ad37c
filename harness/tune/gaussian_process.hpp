// Gaussian-process regression over the configurations of a space, with a fixed list of candidates to predict.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/tune/search_space.hpp"

namespace fusebench {

/// How smooth the times are taken to be along a parameter: a Matern kernel's nu.
enum class Smoothness { half, three_halves, five_halves };

/// How much alike two values of one parameter are, between 0 and 1, by their places: a Matern kernel over the
/// distance of the places in an ordinal parameter, and over 0 or 1 in another. A fiftieth is each value's
/// own, since sizes that divide something stand out from those beside them.
class ParameterKernel {
 public:
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

/// Zero mean and unit prior variance; Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006,
/// algorithm 2.1. Adding a point costs (points) * (candidates).
class GaussianProcess {
 public:
  explicit GaussianProcess(const SearchSpace& space);

  /// Lengths, smoothness and noise that make the targets likely, by coordinate search from the present ones.
  /// O(n^3). `rough` leaves no choice but Smoothness::half.
  void fit(const std::vector<std::size_t>& points, const std::vector<double>& targets, bool rough);

  /// Starts over with these candidates and no points.
  void set_candidates(std::vector<std::size_t> candidates);
  [[nodiscard]] const std::vector<std::size_t>& candidates() const { return candidates_; }
  void add(std::size_t point);
  [[nodiscard]] std::size_t points() const { return points_.size(); }

  struct Prediction {
    std::vector<float> mean;
    std::vector<float> variance;
  };
  /// For each candidate; `targets` are those of the points in the order in which they were added.
  [[nodiscard]] Prediction predict(const std::vector<double>& targets) const;

 private:
  [[nodiscard]] double kernel(std::size_t a, std::size_t b) const;
  [[nodiscard]] double misfit(const std::vector<std::size_t>& points,
                              const std::vector<double>& targets) const;
  void fit_lengths(const std::vector<std::size_t>& points, const std::vector<double>& targets,
                   double& best);
  void fit_smoothness(const std::vector<std::size_t>& points, const std::vector<double>& targets,
                      double& best);
  void fit_noise(const std::vector<std::size_t>& points, const std::vector<double>& targets,
                 double& best);
  void set_smoothness(Smoothness smoothness);

  const SearchSpace* space_;
  std::vector<ParameterKernel> kernels_;  // of the parameters that have a choice
  double noise_ = 1e-2;
  std::vector<std::size_t> candidates_;
  std::vector<std::size_t> points_;
  std::vector<std::vector<double>> factor_;    // rows of the lower Cholesky factor
  std::vector<std::vector<float>> projected_;  // L^-1 K(points, candidates), a row a point
  std::vector<float> explained_;               // by candidate: its squares' sum
};

}  // namespace fusebench
