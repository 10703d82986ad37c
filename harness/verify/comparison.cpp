#include "harness/verify/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/device/cpu/thread_pool.hpp"

namespace fusebench {
namespace {

constexpr std::int64_t piece = 2048;   // expectations held at once by a thread
constexpr std::size_t kept_first = 4;  // mismatches that a message can show

void merge(Comparison& total, const Comparison& part) {
  merge(static_cast<Tally&>(total), part);
  if (part.wrong > 0 && total.worst_index == part.worst_index) total.worst = part.worst;
  for (const Mismatch& mismatch : part.first) {
    if (total.first.size() < kept_first) total.first.push_back(mismatch);
  }
}

std::string element(const Mismatch& m, const Shape& shape) {
  return fmt::format("{} got {:.9g}, expected {:.9g}", coordinates(shape, m.index), m.got,
                     m.expected.exact);
}

}  // namespace

Comparison compare(std::span<const float> got, const Oracle& oracle, const AcceptanceRule& rule,
                   std::uint64_t poison_seed) {
  ThreadPool& pool = shared_pool();
  const auto count = static_cast<std::int64_t>(got.size());
  const std::int64_t pieces = (count + piece - 1) / piece;
  // No thread is woken for what one does sooner.
  const int threads = static_cast<int>(std::clamp<std::int64_t>(pieces / 2, 1, pool.size()));
  std::vector<Comparison> parts(static_cast<std::size_t>(threads));
  pool.run(threads, [&](int thread) {
    // Contiguous ranges in thread order, so that merging in that order keeps "first" the first.
    Comparison part;  // the thread's own, so that no two count in one cache line
    std::array<Expectation, piece> expected;
    for (std::int64_t p = pieces * thread / threads; p < pieces * (thread + 1) / threads; ++p) {
      const std::int64_t begin = p * piece;
      const auto size = static_cast<std::size_t>(std::min(piece, count - begin));
      oracle.expect(begin, std::span(expected).first(size));
      for (std::size_t i = 0; i < size; ++i) {
        const std::int64_t index = begin + static_cast<std::int64_t>(i);
        const float value = got[static_cast<std::size_t>(index)];
        if (count_element(part, index, value, expected[i], rule, poison_seed)) continue;
        if (part.worst_index == index) part.worst = {index, value, expected[i]};
        if (part.first.size() < kept_first) part.first.push_back({index, value, expected[i]});
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
