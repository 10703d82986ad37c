// Several replicas of a series, shown as one row.
#pragma once

#include <span>
#include <vector>

#include "harness/core/record.hpp"

namespace fusebench {

/// A record for each series, in the order of their first ones: of several replicas the first that did not pass,
/// else the one whose median_ns is their median (the lower of two), else the first.
[[nodiscard]] std::vector<Record> typical_replicas(std::span<const Record> records);

}  // namespace fusebench
