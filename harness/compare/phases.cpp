#include "harness/compare/phases.hpp"

#include <cmath>
#include <optional>

#include "harness/measure/statistics.hpp"

namespace fusebench {
namespace {

std::optional<double> level_of(const SeriesId& id, const Builds& phase) {
  double product = 1.0;
  for (const Night* night : {&phase.before, &phase.after}) {
    const auto found = night->series().find(id);
    if (found == night->series().end() || found->second.medians_ns.empty()) return std::nullopt;
    product *= median(sorted(found->second.medians_ns));
  }
  return std::sqrt(product);
}

}  // namespace

Builds pooled(const Builds& first, const Builds& second) {
  Builds both = first;
  for (const bool is_new : {false, true}) {
    const Night& from = is_new ? second.after : second.before;
    for (const auto& [id, replicas] : from.series()) {
      const std::optional<double> a = level_of(id, first);
      const std::optional<double> b = level_of(id, second);
      (is_new ? both.after : both.before).add(id, replicas, a && b ? *a / *b : 1.0);
    }
  }
  return both;
}

}  // namespace fusebench
