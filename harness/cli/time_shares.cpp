#include "harness/cli/time_shares.hpp"

#include <algorithm>

#include "harness/cli/variant_search.hpp"

namespace fusebench {
namespace {

constexpr std::size_t favourites = 2;  // the default and what wisdom knew
constexpr auto rounds = static_cast<double>(VariantSearch::rounds);
constexpr auto least_rounds = static_cast<double>(VariantSearch::least_rounds);

}  // namespace

void TimeShares::at(std::size_t search, double now) {
  now_ = now;
  if (!budget_ || search_ == search) return;
  search_ = search;
  share_ = (*budget_ - now) / static_cast<double>(searches_ - search);
  end_ = now + share_;
  spent_ = 0.0;
  steps_ = 0;
}

void TimeShares::add_step(double seconds) {
  spent_ += seconds;
  ++steps_;
}

double TimeShares::step_seconds() const {
  return steps_ == 0 ? 0.0 : spent_ / static_cast<double>(steps_);
}

bool TimeShares::search_is_over(std::size_t finalists, std::size_t known) const {
  if (!budget_) return false;
  const std::size_t most = finalists == 0 ? 0 : std::min(finalists + favourites, known);
  const double final = rounds * static_cast<double>(most) * step_seconds();
  return left() < std::min(share_ / 2, final);
}

std::size_t TimeShares::finalists(std::size_t wanted) const {
  if (!budget_ || wanted == 0) return wanted;
  const double step = step_seconds();
  if (is_up() || left() < least_rounds * 2 * step) return 0;
  const auto most = static_cast<double>(wanted);
  if (left() >= rounds * (most + favourites) * step) return wanted;
  const double fit = left() / (rounds * step) - favourites;
  return static_cast<std::size_t>(std::clamp(fit, 1.0, most));
}

}  // namespace fusebench
