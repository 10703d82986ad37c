#include "harness/cli/table.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "harness/measure/ceilings.hpp"

namespace fusebench {
namespace {

using Rows = std::vector<const Record*>;

bool is_control(const Record& record) { return record.operator_name == control_operator; }

double median_or_last(const Record& record) {
  return record.median_ns.value_or(std::numeric_limits<double>::infinity());
}

std::string number(const std::optional<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

// A wrong result has no time to show, whatever its record holds.
bool is_timed(const Record& record) {
  return record.outcome == Outcome::passed && record.median_ns.has_value();
}

std::string spread(const Record& record) {
  if (!is_timed(record)) return "-";
  return fmt::format("{:.1f}%", 100.0 * (*record.q3_ns - *record.q1_ns) / *record.median_ns);
}

std::string bit_equal(const Record& record) {
  if (!record.bit_equal_percent) return "-";
  // 99.9999% must not read as all.
  if (*record.bit_equal_percent < 100.0 && *record.bit_equal_percent > 99.99) return "<100";
  return fmt::format("{:.2f}", *record.bit_equal_percent);
}

// "*" the fastest within 1e-4, "+" the best of its precision.
std::string marks(const Record& record, const Rows& ranked) {
  const auto best = [&](auto accept) {
    const auto it =
        std::find_if(ranked.begin(), ranked.end(), [&](const Record* r) { return accept(*r); });
    return it != ranked.end() && *it == &record;
  };
  std::string text;
  if (best([](const Record& r) { return r.within_1e4.value_or(false); })) text += "*";
  if (best([&](const Record& r) { return r.precision == record.precision; })) text += "+";
  return text;
}

// The configuration only where it tells rows apart; the CSV always has it.
std::string name_of(const Record& record, const Rows& group) {
  const auto same = [&](const Record* other) { return other->variant == record.variant; };
  if (std::count_if(group.begin(), group.end(), same) < 2) return record.variant;
  return record.variant + " " + record.configuration;
}

std::vector<std::string> row_of(const Record& record, const Rows& group, const Rows& ranked,
                                double baseline_ns, double peak_gbps) {
  const bool timed = is_timed(record);
  const auto share = [](double part, double whole) {
    return fmt::format("{:.1f}", 100 * part / whole);
  };
  return {name_of(record, group),
          std::string(to_string(record.outcome)),
          is_control(record) ? "-" : std::string(to_string(record.precision)),
          number(record.max_abs_error, "{:.1e}"),
          bit_equal(record),
          timed ? format_time(*record.median_ns) : "-",
          spread(record),
          timed ? number(record.throughput_gbps, "{:.1f}") : "-",
          timed ? number(record.ceiling_percent, "{:.1f}") : "-",
          timed && peak_gbps > 0 ? share(*record.throughput_gbps, peak_gbps) : "-",
          timed && !is_control(record) && baseline_ns > 0
              ? fmt::format("{:.2f}x", baseline_ns / *record.median_ns)
              : "-",
          marks(record, ranked)};
}

std::string group_table(const Rows& group, const std::vector<std::string>& baselines,
                        double peak_gbps) {
  Rows ranked;
  Rows rest;
  Rows controls;
  double baseline_ns = 0;
  for (const Record* record : group) {
    (is_control(*record) ? controls : is_ranked(*record) ? ranked : rest).push_back(record);
    const bool named =
        std::find(baselines.begin(), baselines.end(), record->variant) != baselines.end();
    if (named && is_timed(*record)) {
      // Of several configurations of the baseline, the fastest is the fair one.
      baseline_ns =
          baseline_ns == 0 ? *record->median_ns : std::min(baseline_ns, *record->median_ns);
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const Record* a, const Record* b) {
    return median_or_last(*a) < median_or_last(*b);
  });

  std::vector<std::vector<std::string>> rows = {{"variant", "outcome", "precision", "max abs err",
                                                 "bit-equal %", "median", "spread", "GB/s",
                                                 "% of copy", "% of peak", "speed-up", ""}};
  for (const Rows* part : {&ranked, &rest, &controls}) {
    for (const Record* record : *part) {
      rows.push_back(row_of(*record, group, ranked, baseline_ns, peak_gbps));
    }
  }
  constexpr std::array<std::size_t, 4> left = {0, 1, 2, 11};
  std::string text = align(rows, left);
  for (const Record* record : rest) {
    if (record->reason.empty()) continue;
    text +=
        fmt::format("  {} {}: {}\n", record->variant, to_string(record->outcome), record->reason);
  }
  return text;
}

}  // namespace

bool is_ranked(const Record& record) {
  return record.outcome == Outcome::passed && record.median_ns.has_value() && !is_control(record);
}

std::string format_time(double ns) {
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.4f} ms", ns / 1e6);
  return fmt::format("{:.3f} s", ns / 1e9);
}

std::string align(const std::vector<std::vector<std::string>>& rows,
                  std::span<const std::size_t> left) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool to_left = std::find(left.begin(), left.end(), i) != left.end();
      line += to_left ? fmt::format("{:<{}}  ", row[i], widths[i])
                      : fmt::format("{:>{}}  ", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string result_table(std::span<const Record> records, const std::vector<std::string>& baselines,
                         const std::map<DeviceKind, DeviceTraits>& devices) {
  // Controls of a device and problem belong to each operator's table there.
  std::vector<std::pair<std::string, const Record*>> groups;
  for (const Record& record : records) {
    if (is_control(record) || record.outcome == Outcome::unavailable) continue;
    const std::string key =
        fmt::format("{} on {}, {}", record.operator_name, record.device_name, record.problem);
    const bool known = std::any_of(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.first == key; });
    if (!known) groups.emplace_back(key, &record);
  }
  std::string text;
  for (const auto& [title, example] : groups) {
    Rows group;
    for (const Record& record : records) {
      const bool same = record.device == example->device && record.problem == example->problem &&
                        record.outcome != Outcome::unavailable;
      if (same && (is_control(record) || record.operator_name == example->operator_name)) {
        group.push_back(&record);
      }
    }
    const auto traits = devices.find(example->device);
    const double peak = traits == devices.end() ? 0.0 : traits->second.peak_gbps;
    text += title + "\n" + group_table(group, baselines, peak) + "\n";
  }
  std::map<std::string, std::set<std::string>> unavailable;
  for (const Record& record : records) {
    if (record.outcome == Outcome::unavailable) unavailable[record.reason].insert(record.variant);
  }
  for (const auto& [reason, variants] : unavailable) {
    text += fmt::format("unavailable ({}): {}\n", reason, fmt::join(variants, ", "));
  }
  if (std::any_of(records.begin(), records.end(), is_ranked)) {
    text += "* fastest within 1e-4 of the exact reference order   + best of its precision   "
            "spread: interquartile range over the median\n";
  }
  return text;
}

}  // namespace fusebench
