#include "harness/tune/gaussian_process.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace fusebench {
namespace {

constexpr double usual_length = 0.75;
constexpr std::array<double, 6> lengths = {0.12, 0.3, usual_length, 1.9, 4.7, 12.0};
constexpr std::array<double, 4> noises = {1e-4, 1e-3, 1e-2, 1e-1};
constexpr double own_share = 0.02;  // of a value alone

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

}  // namespace

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

GaussianProcess::GaussianProcess(const SearchSpace& space) : space_(&space) {
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    if (space.parameters()[i].values.size() > 1) kernels_.emplace_back(space, i);
  }
}

double GaussianProcess::kernel(std::size_t a, std::size_t b) const {
  const SearchSpace::Row row_a = space_->row(a);
  const SearchSpace::Row row_b = space_->row(b);
  float product = 1.0F;
  for (const ParameterKernel& kernel : kernels_) {
    product *= kernel.at(row_a[kernel.parameter()], row_b[kernel.parameter()]);
  }
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
  for (const ParameterKernel& kernel : kernels_) {
    const double off = std::log(kernel.length() / usual_length);
    penalty += 0.15 * off * off;
  }
  return 0.5 * count * std::log(std::max(squares / count, 1e-12)) + logarithms + penalty;
}

void GaussianProcess::fit(const std::vector<std::size_t>& points,
                          const std::vector<double>& targets, bool rough) {
  constexpr int sweeps = 2;
  if (rough) set_smoothness(Smoothness::half);
  double best = misfit(points, targets);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    fit_lengths(points, targets, best);
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
