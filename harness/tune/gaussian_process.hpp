// Gaussian-process regression over the configurations of a space, with a fixed list of candidates to predict.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/tune/parameter_kernel.hpp"
#include "harness/tune/product_kernel.hpp"
#include "harness/tune/search_space.hpp"

namespace fusebench {

/// Zero mean and unit prior variance; Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006,
/// algorithm 2.1. Adding a point costs (points) * (candidates).
class GaussianProcess {
 public:
  explicit GaussianProcess(const SearchSpace& space);

  /// Lengths, smoothness, noise and the products of parameters that matter, so that the targets are likely, by
  /// coordinate search from the present ones. Of the products that do not matter yet a few are tried, others with each call.
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
  void fit_products(const std::vector<std::size_t>& points, const std::vector<double>& targets,
                    double& best);
  void try_product(std::size_t product, const std::vector<std::size_t>& points,
                   const std::vector<double>& targets, double& best);
  void fit_smoothness(const std::vector<std::size_t>& points, const std::vector<double>& targets,
                      double& best);
  void fit_noise(const std::vector<std::size_t>& points, const std::vector<double>& targets,
                 double& best);
  void set_smoothness(Smoothness smoothness);

  const SearchSpace* space_;
  std::vector<ParameterKernel> kernels_;  // of the parameters that have a choice
  std::vector<ProductKernel> products_;
  std::vector<std::size_t> used_;  // of the products: those that matter
  std::size_t turn_ = 0;           // which of the products is tried next
  double noise_ = 1e-2;
  std::vector<std::size_t> candidates_;
  std::vector<std::size_t> points_;
  std::vector<std::vector<double>> factor_;    // rows of the lower Cholesky factor
  std::vector<std::vector<float>> projected_;  // L^-1 K(points, candidates), a row a point
  std::vector<float> explained_;               // by candidate: its squares' sum
};

}  // namespace fusebench
