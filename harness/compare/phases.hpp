// What was measured in two phases, between which the machine may have changed its pace, as one.
#pragma once

#include "harness/compare/night.hpp"

namespace fusebench {

/// Two builds in turn.
struct Builds {
  Night before, after;
};

/// Both phases together. Where the machine moved between them, each side alone would have two humps, and the
/// distance of these would pass for the series' own spread. So the times of the second phase are multiplied, both
/// sides' by the same number for each series, until the geometric mean of both sides' medians is that of the
/// first phase; the ratio of the sides stays as it was. Throws Error when a process is in both phases.
[[nodiscard]] Builds pooled(const Builds& first, const Builds& second);

}  // namespace fusebench
