#include "harness/tune/search_moves.hpp"

namespace fusebench {

SearchSpace::Place moved(const SearchSpace& space, std::size_t parameter, SearchSpace::Place place,
                         RandomSource& random) {
  const std::size_t count = space.parameters()[parameter].values.size();
  if (count < 2) return place;
  if (space.is_ordinal(parameter) && random.chance(0.6)) {
    if (place == 0) return 1;
    if (place + 1U == count) return static_cast<SearchSpace::Place>(place - 1);
    return static_cast<SearchSpace::Place>(random.chance(0.5) ? place + 1 : place - 1);
  }
  const auto other = static_cast<SearchSpace::Place>(random.below(count - 1));
  return other < place ? other : static_cast<SearchSpace::Place>(other + 1);
}

std::optional<std::size_t> fresh_child(const SearchSpace& space, const SearchMemory& memory,
                                       std::size_t mother, std::size_t father,
                                       RandomSource& random) {
  constexpr int tries = 30;
  const std::size_t width = space.parameters().size();
  for (int i = 0; i < tries; ++i) {
    // Harder with each try: parents that are alike have no other fresh children.
    const double rate = (1.0 + 0.2 * i) / static_cast<double>(width);
    std::vector<SearchSpace::Place> row(width);
    for (std::size_t p = 0; p < width; ++p) {
      row[p] = space.row(random.chance(0.5) ? mother : father)[p];
      if (random.chance(rate)) row[p] = moved(space, p, row[p], random);
    }
    const auto found = space.index_of(row);
    if (found && memory.is_fresh(*found)) return found;
  }
  return std::nullopt;
}

std::optional<std::size_t> shaken(const SearchSpace& space, std::size_t index, std::size_t count,
                                  RandomSource& random) {
  constexpr int tries = 20;
  for (int i = 0; i < tries; ++i) {
    std::vector<SearchSpace::Place> row(space.row(index).begin(), space.row(index).end());
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t parameter = random.below(row.size());
      row[parameter] = moved(space, parameter, row[parameter], random);
    }
    const auto found = space.index_of(row);
    if (found && *found != index) return found;
  }
  return std::nullopt;
}

}  // namespace fusebench
