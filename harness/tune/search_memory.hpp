// What a strategy remembers of its search: which configurations were proposed, and what became of them.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "harness/tune/random_source.hpp"
#include "harness/tune/search_space.hpp"

namespace fusebench {

class SearchMemory {
 public:
  /// A failed configuration is beyond every time, so it is never a reward.
  static constexpr double failed = std::numeric_limits<double>::infinity();

  explicit SearchMemory(const SearchSpace& space);

  /// Neither proposed nor told of.
  [[nodiscard]] bool is_fresh(std::size_t index) const { return place_[index] < fresh_.size(); }
  [[nodiscard]] bool is_known(std::size_t index) const { return known_[index]; }
  /// Its time, or `failed`; only where it is known.
  [[nodiscard]] double time_of(std::size_t index) const { return times_[index]; }
  [[nodiscard]] const std::vector<std::size_t>& fresh() const { return fresh_; }
  /// In the order in which they became known.
  [[nodiscard]] const std::vector<std::size_t>& known() const { return order_; }
  /// The fastest that is known; nothing while none passed.
  [[nodiscard]] std::optional<std::size_t> best() const { return best_; }

  void propose(std::size_t index);
  void learn(std::size_t index, std::optional<double> time_ns);
  /// Some fresh one; there must be one.
  [[nodiscard]] std::size_t random_fresh(RandomSource& random) const {
    return fresh_[random.below(fresh_.size())];
  }

 private:
  std::vector<std::size_t> fresh_;
  std::vector<std::size_t> place_;  // in fresh_, or beyond its end
  std::vector<bool> known_;
  std::vector<double> times_;
  std::vector<std::size_t> order_;
  std::optional<std::size_t> best_;
};

}  // namespace fusebench
