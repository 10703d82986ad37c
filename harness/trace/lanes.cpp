#include "harness/trace/lanes.hpp"

#include <algorithm>
#include <numeric>

namespace fusebench {
namespace {

// A lane knows the ends of the spans that are open: the innermost last.
class Lane {
 public:
  bool take(const TimeSpan& span, Nesting nesting) {
    const std::uint64_t end = std::max(span.start_ns, span.end_ns);
    while (!open_.empty() && open_.back() <= span.start_ns) open_.pop_back();
    const bool is_within = nesting == Nesting::allowed && !open_.empty() && end <= open_.back();
    if (!open_.empty() && !is_within) return false;
    open_.push_back(end);
    return true;
  }

 private:
  std::vector<std::uint64_t> open_;
};

}  // namespace

LaneLayout lay_out(std::span<const TimeSpan> spans, Nesting nesting) {
  LaneLayout layout{std::vector<std::size_t>(spans.size()), std::vector<std::size_t>(spans.size())};
  std::iota(layout.order.begin(), layout.order.end(), std::size_t{0});
  std::stable_sort(layout.order.begin(), layout.order.end(), [&](std::size_t a, std::size_t b) {
    if (spans[a].start_ns != spans[b].start_ns) return spans[a].start_ns < spans[b].start_ns;
    return spans[a].end_ns > spans[b].end_ns;
  });
  std::vector<Lane> lanes;
  for (const std::size_t i : layout.order) {
    std::size_t lane = 0;
    while (lane < lanes.size() && !lanes[lane].take(spans[i], nesting)) ++lane;
    if (lane == lanes.size()) {
      lanes.emplace_back();
      (void)lanes.back().take(spans[i], nesting);
    }
    layout.lane[i] = lane;
  }
  return layout;
}

}  // namespace fusebench
