// A slow night is not a slow kernel: what the controls moved by is taken off.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/compare/comparison.hpp"

namespace fusebench {

/// By how much the machine's controls moved in each direction, called or not: the largest.
struct Move {
  double size = 0.0;
  std::string control;
};
struct Drift {
  Move slower, faster;
};

using Place = std::pair<DeviceKind, std::string>;
using Drifts = std::map<Place, Drift>;

[[nodiscard]] Drifts drifts_of(const std::vector<SeriesComparison>& controls);

/// Makes a change ambiguous when too little of it is left without the largest move of a control of its device and
/// problem in its direction. `series` has been judged by its times.
void withhold_what_may_be_the_machines(SeriesComparison& series, const Drifts& drifts,
                                       const CompareRules& rules);

}  // namespace fusebench
