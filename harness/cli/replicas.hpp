// Several replicas of a series, shown as one row.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/core/record.hpp"

namespace fusebench {

/// A record for each series, in the order of their first ones: of several replicas the first that did not pass,
/// else the one whose median_ns is their median (the lower of two), else the first.
[[nodiscard]] std::vector<Record> typical_replicas(std::span<const Record> records);

/// A line for each control whose median over the second half of its replicas differs by `least` or more, as a share, from
/// that over the first half: the machine was not the same throughout. Of an odd number the middle one counts for
/// neither; one replica has no halves.
[[nodiscard]] std::vector<std::string> drifts_of_controls(std::span<const Record> records,
                                                          double least);

}  // namespace fusebench
