#include "harness/device/cpu/fill_memory.hpp"

#include <atomic>
#include <cstring>

#include "harness/core/generator.hd.hpp"
#include "harness/device/cpu/thread_pool.hpp"

// The generator multiplies 64-bit words, which vectors of AVX2 and later do several times faster.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FUSEBENCH_CLONES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define FUSEBENCH_CLONES
#endif

namespace fusebench {
namespace {

constexpr std::int64_t grain = 4096;

// The recipe of nearly every tensor: with the draw known the loop has no branches and can be vectorised.
FUSEBENCH_CLONES void generate_uniform(float* to, std::int64_t begin, std::int64_t end,
                                       const InputRecipe& recipe, std::uint64_t stream) {
  const InputRecipe known = {.scale = recipe.scale,
                             .offset = recipe.offset,
                             .factor = recipe.factor,
                             .draw = Draw::uniform,
                             .sprinkled = false};
  for (std::int64_t i = begin; i < end; ++i) {
    to[i] = input_value(known, stream, static_cast<std::uint64_t>(i), 0);
  }
}

FUSEBENCH_CLONES void poison_range(float* to, std::int64_t begin, std::int64_t end,
                                   std::uint64_t seed) {
  for (std::int64_t i = begin; i < end; ++i) {
    const unsigned bits = poison_bits(seed, static_cast<std::uint64_t>(i));
    std::memcpy(to + i, &bits, sizeof bits);
  }
}

FUSEBENCH_CLONES std::uint64_t fingerprint_range(const std::byte* words, std::int64_t begin,
                                                 std::int64_t end) {
  std::uint64_t part = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, words + 4 * i, sizeof word);
    part += fingerprint_term(static_cast<std::uint64_t>(i), word);
  }
  return part;
}

}  // namespace

void generate_values(float* to, std::int64_t count, const InputRecipe& recipe,
                     std::uint64_t stream) {
  shared_pool().for_ranges(count, grain, [&](std::int64_t begin, std::int64_t end) {
    if (recipe.draw == Draw::uniform && !recipe.sprinkled) {
      generate_uniform(to, begin, end, recipe, stream);
      return;
    }
    for (std::int64_t i = begin; i < end; ++i) {
      to[i] = input_value(recipe, stream, static_cast<std::uint64_t>(i),
                          static_cast<std::uint64_t>(count));
    }
  });
}

void poison_values(float* to, std::int64_t count, std::uint64_t seed) {
  shared_pool().for_ranges(count, grain, [&](std::int64_t begin, std::int64_t end) {
    poison_range(to, begin, end, seed);
  });
}

std::uint64_t fingerprint_of(const MemoryRange& range) {
  std::atomic<std::uint64_t> sum = 0;
  const auto* words = static_cast<const std::byte*>(range.address);
  shared_pool().for_ranges(
      static_cast<std::int64_t>(range.bytes / 4), grain,
      [&](std::int64_t begin, std::int64_t end) { sum += fingerprint_range(words, begin, end); });
  return sum;
}

}  // namespace fusebench
