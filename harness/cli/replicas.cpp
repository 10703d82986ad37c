#include "harness/cli/replicas.hpp"

#include <algorithm>
#include <map>
#include <string>

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

}  // namespace fusebench
