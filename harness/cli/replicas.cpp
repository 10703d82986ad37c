#include "harness/cli/replicas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "harness/cli/table.hpp"
#include "harness/compare/size.hpp"
#include "harness/measure/statistics.hpp"

namespace fusebench {
namespace {

const Record* typical(std::vector<const Record*> replicas) {
  const auto failed = std::find_if(replicas.begin(), replicas.end(), [](const Record* record) {
    return record->outcome != Outcome::passed;
  });
  if (failed != replicas.end()) return *failed;
  const Record* const first = replicas.front();
  std::erase_if(replicas, [](const Record* record) { return !record->median_ns.has_value(); });
  if (replicas.empty()) return first;
  const auto middle = replicas.begin() + static_cast<std::ptrdiff_t>((replicas.size() - 1) / 2);
  std::nth_element(replicas.begin(), middle, replicas.end(),
                   [](const Record* a, const Record* b) { return *a->median_ns < *b->median_ns; });
  return *middle;
}

}  // namespace

std::vector<Record> typical_replicas(std::span<const Record> records) {
  std::map<std::string, std::vector<const Record*>> by_series;
  std::vector<const std::string*> order;
  for (const Record& record : records) {
    const auto [series, is_new] = by_series.try_emplace(series_key(record));
    series->second.push_back(&record);
    if (is_new) order.push_back(&series->first);
  }
  std::vector<Record> rows;
  for (const std::string* key : order) rows.push_back(*typical(by_series.at(*key)));
  return rows;
}

std::vector<std::string> drifts_of_controls(std::span<const Record> records, double least) {
  std::map<std::string, std::map<int, const Record*>> by_series;  // and replica
  for (const Record& record : records) {
    if (record.operator_name != control_operator || !record.median_ns.value_or(0.0)) continue;
    by_series[series_key(record)][record.replica] = &record;
  }
  std::vector<std::string> lines;
  for (const auto& [key, replicas] : by_series) {
    std::vector<double> medians;
    for (const auto& [replica, record] : replicas) medians.push_back(*record->median_ns);
    const std::size_t half = medians.size() / 2;
    if (half == 0) continue;
    const double first = median(sorted(std::span(medians).first(half)));
    const double second = median(sorted(std::span(medians).last(half)));
    const double size = size_of(second / first);
    if (!(size >= least)) continue;
    const Record& record = *replicas.begin()->second;
    lines.push_back(fmt::format(
        "the machine drifted: the control {} ({}, {}) was {} {} in the second half of the "
        "replicas, {} after {}",
        record.variant, record.problem, to_string(record.device), percent(size),
        second > first ? "slower" : "faster", format_time(second), format_time(first)));
  }
  return lines;
}

}  // namespace fusebench
