#include "harness/verify/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "harness/core/generator.hpp"
#include "harness/device/cpu/thread_pool.hpp"
#include "harness/verify/acceptance.hpp"

namespace fusebench {
namespace {

constexpr std::int64_t piece = 2048;   // expectations held at once by a thread
constexpr std::size_t kept_first = 4;  // mismatches that a message can show

// Infinite where no finite result could be told from another: the same in judge() and in merge(), or the
// worst element would depend on which thread met it.
double error_of(const Expectation& expected, float got) {
  if (!std::isfinite(expected.exact) || !std::isfinite(expected.value)) {
    return std::numeric_limits<double>::infinity();
  }
  const double error = std::abs(static_cast<double>(got) - expected.value);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

void judge(Comparison& total, std::int64_t index, float got, const Expectation& expected,
           Precision precision, const ErrorBound& bound, std::uint64_t poison_seed) {
  ++total.compared;
  const bool equal = bit_equal(got, expected.exact);
  total.bit_equal += equal;
  total.outside_1e4 += !within_headline(expected, got);
  const bool poisoned = std::bit_cast<std::uint32_t>(got) ==
                        poison_bits(poison_seed, static_cast<std::uint64_t>(index));
  total.unwritten += poisoned;
  const double error = error_of(expected, got);
  if (std::isfinite(expected.exact) && std::isfinite(expected.value)) {
    total.max_abs_error = std::max(total.max_abs_error, error);
    if (expected.value != 0) {
      total.max_rel_error = std::max(total.max_rel_error, error / std::abs(expected.value));
    }
  }
  // A survivor of the poison is a NaN, yet no NaN counts as right that the call did not write.
  if (!poisoned && accepted(precision, bound, expected, got)) return;
  if (total.wrong == 0 || error > error_of(total.worst.expected, total.worst.got)) {
    total.worst = {index, got, expected};
  }
  ++total.wrong;
  if (total.first.size() < kept_first) total.first.push_back({index, got, expected});
}

void merge(Comparison& total, const Comparison& part) {
  total.compared += part.compared;
  total.unwritten += part.unwritten;
  total.outside_1e4 += part.outside_1e4;
  total.bit_equal += part.bit_equal;
  total.max_abs_error = std::max(total.max_abs_error, part.max_abs_error);
  total.max_rel_error = std::max(total.max_rel_error, part.max_rel_error);
  if (part.wrong > 0 && (total.wrong == 0 || error_of(part.worst.expected, part.worst.got) >
                                                 error_of(total.worst.expected, total.worst.got))) {
    total.worst = part.worst;
  }
  total.wrong += part.wrong;
  for (const Mismatch& mismatch : part.first) {
    if (total.first.size() < kept_first) total.first.push_back(mismatch);
  }
}

std::string element(const Mismatch& m, const Shape& shape) {
  return fmt::format("{} got {:.9g}, expected {:.9g}", coordinates(shape, m.index), m.got,
                     m.expected.exact);
}

}  // namespace

Comparison compare(std::span<const float> got, const Oracle& oracle, Precision precision,
                   const ErrorBound& bound, std::uint64_t poison_seed) {
  ThreadPool& pool = shared_pool();
  const auto count = static_cast<std::int64_t>(got.size());
  const std::int64_t pieces = (count + piece - 1) / piece;
  std::vector<Comparison> parts(static_cast<std::size_t>(pool.size()));
  pool.run(pool.size(), [&](int thread) {
    // Contiguous ranges in thread order, so that merging in that order keeps "first" the first.
    Comparison part;  // the thread's own, so that no two count in one cache line
    std::array<Expectation, piece> expected;
    for (std::int64_t p = pieces * thread / pool.size(); p < pieces * (thread + 1) / pool.size();
         ++p) {
      const std::int64_t begin = p * piece;
      const auto size = static_cast<std::size_t>(std::min(piece, count - begin));
      oracle.expect(begin, std::span(expected).first(size));
      for (std::size_t i = 0; i < size; ++i) {
        const std::int64_t index = begin + static_cast<std::int64_t>(i);
        judge(part, index, got[static_cast<std::size_t>(index)], expected[i], precision, bound,
              poison_seed);
      }
    }
    parts[static_cast<std::size_t>(thread)] = std::move(part);
  });
  Comparison total;
  for (const Comparison& part : parts) merge(total, part);
  return total;
}

std::string describe(const Comparison& comparison, const Shape& shape) {
  std::string text = fmt::format("{} of {} elements wrong", comparison.wrong, comparison.compared);
  if (comparison.unwritten > 0) text += fmt::format(" ({} never written)", comparison.unwritten);
  if (comparison.wrong == 0) return text;
  text += "; worst at " + element(comparison.worst, shape);
  bool first = true;
  for (const Mismatch& mismatch : comparison.first) {
    if (mismatch.index == comparison.worst.index) continue;
    text += (first ? "; also " : ", ") + element(mismatch, shape);
    first = false;
  }
  return text;
}

}  // namespace fusebench
