// What the outcomes alone say of a series: whether it is there, whether it is right.
#pragma once

#include <optional>
#include <string>

#include "harness/compare/comparison.hpp"

namespace fusebench {

/// What can be said without looking at times, its reason written to `series`; nullopt when they decide, and then both
/// sides have some. Newly wrong is what fails now and did not at all, what fails in another, worse way (wrong and not
/// crashed), and what passed mostly, or now and then, and does so no more.
[[nodiscard]] std::optional<Verdict> verdict_without_times(const Replicas& before,
                                                           const Replicas& after,
                                                           SeriesComparison& series);

/// What is to be said of replicas without a time on sides whose times compare: "now in 2 of 10 replicas
/// unavailable: no memory". Empty when there are none.
[[nodiscard]] std::string remarks_on(const Replicas& before, const Replicas& after);

}  // namespace fusebench
