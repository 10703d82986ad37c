// Overlapping spans laid out on as few lanes as nesting allows: a viewer drops those that overlap on one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/trace/timeline.hpp"

namespace fusebench {

/// May spans of a lane hold one another, as calls on a thread do?
enum class Nesting { allowed, none };

struct LaneLayout {
  std::vector<std::size_t>
      order;  ///< indices of the spans: by start, of those that start together the longest first
  std::vector<std::size_t> lane;  ///< of each span, by its own index; from 0
};

/// Each span goes to the first lane where it overlaps with none, or is wholly within all that it overlaps with where
/// nesting is allowed. A span that ends before it starts counts as empty.
[[nodiscard]] LaneLayout lay_out(std::span<const TimeSpan> spans, Nesting nesting);

}  // namespace fusebench
