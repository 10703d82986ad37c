#include "harness/tune/search_memory.hpp"

#include <numeric>

namespace fusebench {

SearchMemory::SearchMemory(const SearchSpace& space)
    : fresh_(space.size()), place_(space.size()), known_(space.size()), times_(space.size()) {
  std::iota(fresh_.begin(), fresh_.end(), std::size_t{0});
  std::iota(place_.begin(), place_.end(), std::size_t{0});
}

void SearchMemory::propose(std::size_t index) {
  if (!is_fresh(index)) return;
  const std::size_t place = place_[index];
  fresh_[place] = fresh_.back();
  place_[fresh_[place]] = place;
  fresh_.pop_back();
  place_[index] = std::numeric_limits<std::size_t>::max();
}

void SearchMemory::learn(std::size_t index, std::optional<double> time_ns) {
  propose(index);
  if (known_[index]) return;
  known_[index] = true;
  times_[index] = time_ns.value_or(failed);
  order_.push_back(index);
  if (time_ns && (!best_ || *time_ns < times_[*best_])) best_ = index;
}

}  // namespace fusebench
