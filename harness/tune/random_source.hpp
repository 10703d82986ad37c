// Random numbers that are the same with every standard library, so that a seed means one search.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>

namespace fusebench {

class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : engine_(seed) {}

  /// From 0 to count - 1, each as likely; count is at least 1.
  std::size_t below(std::size_t count) {
    const std::uint64_t limit = UINT64_MAX - UINT64_MAX % count;
    std::uint64_t drawn = engine_();
    while (drawn >= limit) drawn = engine_();
    return static_cast<std::size_t>(drawn % count);
  }
  /// From 0 up to, and without, 1.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  bool chance(double probability) { return uniform() < probability; }

 private:
  std::mt19937_64 engine_;  // whose numbers the standard prescribes, unlike its distributions'
};

}  // namespace fusebench
