// Steps that several strategies take from a configuration.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "harness/tune/random_source.hpp"
#include "harness/tune/search_memory.hpp"
#include "harness/tune/search_space.hpp"

namespace fusebench {

template <typename T>
void shuffle(std::vector<T>& items, RandomSource& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

/// A valid configuration that differs in at most `count` parameters, chosen at random; nothing where some
/// tries found none.
[[nodiscard]] std::optional<std::size_t> shaken(const SearchSpace& space, std::size_t index,
                                                std::size_t count, RandomSource& random);

/// Another place for a parameter: for an ordinal one mostly a near one.
[[nodiscard]] SearchSpace::Place moved(const SearchSpace& space, std::size_t parameter,
                                       SearchSpace::Place place, RandomSource& random);

/// A fresh configuration that has each parameter from either parent, about one of them moved; nothing where
/// some tries found none.
[[nodiscard]] std::optional<std::size_t> fresh_child(const SearchSpace& space,
                                                     const SearchMemory& memory, std::size_t mother,
                                                     std::size_t father, RandomSource& random);

}  // namespace fusebench
