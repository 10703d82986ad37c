#include "harness/tune/gaussian_process.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace fusebench {
namespace {

constexpr std::array<double, 6> lengths = {0.12, 0.3, ParameterKernel::usual_length,
                                           1.9,  4.7, 12.0};
constexpr std::array<double, 4> noises = {1e-4, 1e-3, 1e-2, 1e-1};
constexpr std::size_t tried_products = 6;  // with each fit
constexpr std::size_t most_products = 6;

}  // namespace

GaussianProcess::GaussianProcess(const SearchSpace& space) : space_(&space) {
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    if (space.parameters()[i].values.size() > 1) kernels_.emplace_back(space, i);
  }
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    if (!ProductKernel::is_magnitude(space, i)) continue;
    for (std::size_t k = 0; k < i; ++k) {
      if (ProductKernel::is_magnitude(space, k)) products_.emplace_back(space, k, i);
    }
  }
}

double GaussianProcess::kernel(std::size_t a, std::size_t b) const {
  const SearchSpace::Row row_a = space_->row(a);
  const SearchSpace::Row row_b = space_->row(b);
  float product = 1.0F;
  for (const ParameterKernel& kernel : kernels_) {
    product *= kernel.at(row_a[kernel.parameter()], row_b[kernel.parameter()]);
  }
  for (const std::size_t used : used_) product *= products_[used].at(row_a, row_b);
  return static_cast<double>(product);
}

// Minus the logarithm of the marginal likelihood, the signal's variance chosen for the best, plus a penalty
// for lengths far from the range: few points say little.
double GaussianProcess::misfit(const std::vector<std::size_t>& points,
                               const std::vector<double>& targets) const {
  const std::size_t n = points.size();
  std::vector<double> factor(n * n);
  std::vector<double> solved(n);
  double logarithms = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    double* const row = factor.data() + i * n;
    for (std::size_t k = 0; k <= i; ++k) {
      const double* const other = factor.data() + k * n;
      double sum = kernel(points[i], points[k]) + (i == k ? noise_ : 0.0);
      for (std::size_t j = 0; j < k; ++j) sum -= row[j] * other[j];
      row[k] = i == k ? std::sqrt(std::max(sum, 1e-10)) : sum / other[k];
    }
    double sum = targets[i];
    for (std::size_t j = 0; j < i; ++j) sum -= row[j] * solved[j];
    solved[i] = sum / row[i];
    logarithms += std::log(row[i]);
    squares += solved[i] * solved[i];
  }
  const auto count = static_cast<double>(n);
  double penalty = 0.0;
  const auto add_penalty = [&penalty](double length) {
    const double off = std::log(length / ParameterKernel::usual_length);
    penalty += 0.15 * off * off;
  };
  for (const ParameterKernel& kernel : kernels_) add_penalty(kernel.length());
  for (const std::size_t used : used_) add_penalty(products_[used].length());
  return 0.5 * count * std::log(std::max(squares / count, 1e-12)) + logarithms + penalty;
}

void GaussianProcess::fit(const std::vector<std::size_t>& points,
                          const std::vector<double>& targets, bool rough) {
  constexpr int sweeps = 2;
  if (rough) set_smoothness(Smoothness::half);
  double best = misfit(points, targets);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    fit_lengths(points, targets, best);
    if (sweep == 0) fit_products(points, targets, best);
    if (!rough) fit_smoothness(points, targets, best);
    fit_noise(points, targets, best);
  }
}

void GaussianProcess::fit_lengths(const std::vector<std::size_t>& points,
                                  const std::vector<double>& targets, double& best) {
  for (ParameterKernel& kernel : kernels_) {
    double kept = kernel.length();
    for (const double length : lengths) {
      if (length == kept) continue;
      kernel.set(length, kernel.smoothness());
      const double found = misfit(points, targets);
      if (!(found < best)) continue;
      best = found;
      kept = length;
    }
    kernel.set(kept, kernel.smoothness());
  }
}

void GaussianProcess::fit_products(const std::vector<std::size_t>& points,
                                   const std::vector<double>& targets, double& best) {
  constexpr std::size_t fewest_points = 8;
  if (points.size() < fewest_points || products_.empty()) return;
  const Smoothness smoothness = kernels_.front().smoothness();
  for (std::size_t i = 0; i < used_.size();) {
    const std::size_t product = used_[i];
    double kept = products_[product].length();
    for (const double length : lengths) {
      if (length == kept) continue;
      products_[product].set(length, smoothness);
      const double found = misfit(points, targets);
      if (!(found < best)) continue;
      best = found;
      kept = length;
    }
    products_[product].set(kept, smoothness);
    const auto place = used_.begin() + static_cast<std::ptrdiff_t>(i);
    used_.erase(place);
    const double without = misfit(points, targets);
    if (without < best) {
      best = without;
      continue;
    }
    used_.insert(used_.begin() + static_cast<std::ptrdiff_t>(i), product);
    ++i;
  }
  const std::size_t tries = std::min(tried_products, products_.size());
  for (std::size_t i = 0; i < tries && used_.size() < most_products; ++i) {
    try_product(turn_++ % products_.size(), points, targets, best);
  }
}

// A valley along a diagonal seems narrow along either axis, so their lengths may have to grow with it.
void GaussianProcess::try_product(std::size_t product, const std::vector<std::size_t>& points,
                                  const std::vector<double>& targets, double& best) {
  constexpr std::array<double, 2> tried_lengths = {0.3, ParameterKernel::usual_length};
  constexpr double growth = 2.5;
  if (std::find(used_.begin(), used_.end(), product) != used_.end()) return;
  ProductKernel& tried = products_[product];
  const auto axis = [this](std::size_t parameter) -> ParameterKernel& {
    return *std::find_if(kernels_.begin(), kernels_.end(), [&](const ParameterKernel& kernel) {
      return kernel.parameter() == parameter;
    });
  };
  ParameterKernel& first = axis(tried.first());
  ParameterKernel& second = axis(tried.second());
  const Smoothness smoothness = first.smoothness();
  const auto grown = [](double length) { return std::min(length * growth, lengths.back()); };
  double kept = 0.0;
  double kept_first = first.length();
  double kept_second = second.length();
  const std::array<double, 2> of_first = {kept_first, grown(kept_first)};
  const std::array<double, 2> of_second = {kept_second, grown(kept_second)};
  used_.push_back(product);
  for (const double length : tried_lengths) {
    tried.set(length, smoothness);
    for (std::size_t axes = 0; axes < 4; ++axes) {
      first.set(of_first[axes % 2], smoothness);
      second.set(of_second[axes / 2], smoothness);
      const double found = misfit(points, targets);
      if (!(found < best)) continue;
      best = found;
      kept = length;
      kept_first = first.length();
      kept_second = second.length();
    }
  }
  first.set(kept_first, smoothness);
  second.set(kept_second, smoothness);
  if (kept > 0.0) {
    tried.set(kept, smoothness);
  } else {
    used_.pop_back();
  }
}

void GaussianProcess::fit_smoothness(const std::vector<std::size_t>& points,
                                     const std::vector<double>& targets, double& best) {
  if (kernels_.empty()) return;
  const Smoothness before = kernels_.front().smoothness();
  Smoothness kept = before;
  for (const Smoothness smoothness :
       {Smoothness::half, Smoothness::three_halves, Smoothness::five_halves}) {
    if (smoothness == before) continue;
    set_smoothness(smoothness);
    const double found = misfit(points, targets);
    if (!(found < best)) continue;
    best = found;
    kept = smoothness;
  }
  set_smoothness(kept);
}

void GaussianProcess::fit_noise(const std::vector<std::size_t>& points,
                                const std::vector<double>& targets, double& best) {
  double kept = noise_;
  for (const double noise : noises) {
    noise_ = noise;
    const double found = misfit(points, targets);
    if (!(found < best)) continue;
    best = found;
    kept = noise;
  }
  noise_ = kept;
}

void GaussianProcess::set_smoothness(Smoothness smoothness) {
  for (ParameterKernel& kernel : kernels_) kernel.set(kernel.length(), smoothness);
  for (const std::size_t used : used_) products_[used].set(products_[used].length(), smoothness);
}

void GaussianProcess::set_candidates(std::vector<std::size_t> candidates) {
  candidates_ = std::move(candidates);
  points_.clear();
  factor_.clear();
  projected_.clear();
  explained_.assign(candidates_.size(), 0.0F);
}

void GaussianProcess::add(std::size_t point) {
  const std::size_t n = points_.size();
  std::vector<double> row(n + 1);
  for (std::size_t k = 0; k < n; ++k) {
    double sum = kernel(point, points_[k]);
    for (std::size_t j = 0; j < k; ++j) sum -= row[j] * factor_[k][j];
    row[k] = sum / factor_[k][k];
  }
  double rest = 1.0 + noise_;
  for (std::size_t j = 0; j < n; ++j) rest -= row[j] * row[j];
  row[n] = std::sqrt(std::max(rest, 1e-8));

  const std::size_t count = candidates_.size();
  std::vector<float> projected(count);
  for (std::size_t c = 0; c < count; ++c) {
    projected[c] = static_cast<float>(kernel(point, candidates_[c]));
  }
  for (std::size_t k = 0; k < n; ++k) {
    const auto weight = static_cast<float>(row[k]);
    const float* const other = projected_[k].data();
    for (std::size_t c = 0; c < count; ++c) projected[c] -= weight * other[c];
  }
  const auto scale = static_cast<float>(1.0 / row[n]);
  for (std::size_t c = 0; c < count; ++c) {
    projected[c] *= scale;
    explained_[c] += projected[c] * projected[c];
  }
  points_.push_back(point);
  factor_.push_back(std::move(row));
  projected_.push_back(std::move(projected));
}

GaussianProcess::Prediction GaussianProcess::predict(const std::vector<double>& targets) const {
  const std::size_t count = candidates_.size();
  Prediction prediction{std::vector<float>(count, 0.0F), std::vector<float>(count)};
  std::vector<double> solved(points_.size());
  double squares = 0.0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    double sum = targets[i];
    for (std::size_t j = 0; j < i; ++j) sum -= factor_[i][j] * solved[j];
    solved[i] = sum / factor_[i][i];
    squares += solved[i] * solved[i];
    const auto weight = static_cast<float>(solved[i]);
    const float* const row = projected_[i].data();
    for (std::size_t c = 0; c < count; ++c) prediction.mean[c] += weight * row[c];
  }
  const auto signal =
      static_cast<float>(squares / std::max<double>(1.0, static_cast<double>(points_.size())));
  for (std::size_t c = 0; c < count; ++c) {
    prediction.variance[c] = signal * std::max(1.0F - explained_[c], 1e-6F);
  }
  return prediction;
}

}  // namespace fusebench
