#include "harness/cli/table.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "harness/cli/group.hpp"
#include "harness/compare/size.hpp"

namespace fusebench {
namespace {

// Quartiles of fewer are the samples themselves, and of one it would read as a steady 0.0%.
constexpr std::int64_t least_samples = 5;

bool is_poor_ceiling(const Record& record) {
  return record.operator_name == control_operator && is_timed(record) &&
         record.samples < least_samples && (record.variant == "copy" || record.variant == "memcpy");
}

std::string spread(const Record& record) {
  if (!is_timed(record) || !record.q1_ns || !record.q3_ns || record.samples < least_samples) {
    return "-";
  }
  return fmt::format("{:.1f}%", 100.0 * (*record.q3_ns - *record.q1_ns) / *record.median_ns);
}

std::string bit_equal(const Record& record) {
  if (!record.bit_equal_percent) return "-";
  // 99.9999% must not read as all.
  if (*record.bit_equal_percent < 100.0 && *record.bit_equal_percent > 99.99) return "<100";
  return fmt::format("{:.2f}", *record.bit_equal_percent);
}

std::string within(const Record& record) {
  if (!record.within_1e4 || is_control(record)) return "-";
  return *record.within_1e4 ? "yes" : "no";
}

std::string outcome_of(const Shown& row) {
  std::string outcome(to_string(row.record->outcome));
  if (row.record->in_place) outcome += " in place";
  if (!row.peer) return outcome;
  if (row.record->outcome != Outcome::passed) return "peer " + outcome;
  return row.record->in_place ? "peer in place" : "peer";
}

// The configuration only where it tells something; the CSV always has it.
std::string name_of(const Shown& row, bool every) {
  const Record& record = *row.record;
  if (row.of < 2) return record.variant;
  if (every) return record.variant + " " + record.configuration;
  if (!is_timed(record)) {
    return fmt::format("{} ({} of {} passed)", record.variant, row.passed, row.of);
  }
  std::string name = record.variant + " " + record.configuration;
  if (!row.best) return name;
  const std::string passed = row.passed < row.of ? fmt::format(", {} passed", row.passed) : "";
  return name + fmt::format(" (best of {}{})", row.of, passed);
}

struct Yardsticks {
  double baseline_ns = 0;  ///< 0: none
  double peak_gbps = 0;    ///< 0: unknown
};

std::vector<std::string> row_of(const Shown& row, const std::string& name, const std::string& marks,
                                const Yardsticks& yardsticks) {
  const Record& record = *row.record;
  const bool timed = is_timed(record);
  // What control fma moves says nothing; what it computes stands below the table.
  const bool has_rate =
      timed && record.throughput_gbps.has_value() && !(is_control(record) && record.flops > 0);
  return {name,
          outcome_of(row),
          is_control(record) ? "-" : std::string(to_string(record.precision)),
          number_or_dash(record.max_abs_error, "{:.1e}"),
          within(record),
          bit_equal(record),
          timed ? format_time(*record.median_ns) : "-",
          spread(record),
          has_rate ? number_or_dash(record.throughput_gbps, "{:.1f}") : "-",
          timed ? number_or_dash(record.ceiling_percent, "{:.1f}") : "-",
          has_rate && yardsticks.peak_gbps > 0
              ? fmt::format("{:.1f}", 100 * *record.throughput_gbps / yardsticks.peak_gbps)
              : "-",
          timed && !is_control(record) && yardsticks.baseline_ns > 0
              ? fmt::format("{:.2f}x", yardsticks.baseline_ns / *record.median_ns)
              : "-",
          marks};
}

// Why something did not pass: each in full when `every`, else once for a variant and an outcome.
std::string reasons_of(const std::vector<const Record*>& records, const Group& group, bool peers,
                       bool every) {
  const auto count = [](const std::vector<const Record*>& rows, auto accept) {
    return std::count_if(rows.begin(), rows.end(), [&](const Record* r) { return accept(*r); });
  };
  std::set<std::pair<std::string, Outcome>> told;
  std::string text;
  for (const Record* record : records) {
    if (record->reason.empty() || record->outcome == Outcome::passed) continue;
    if (!told.emplace(record->variant, record->outcome).second && !every) continue;
    const auto same_variant = [&](const Record& r) { return r.variant == record->variant; };
    const auto of = count(records, same_variant) + (peers ? 0 : count(group.ranked, same_variant));
    const auto alike = count(
        records, [&](const Record& r) { return same_variant(r) && r.outcome == record->outcome; });
    std::string who = record->variant;
    std::string how(to_string(record->outcome));
    if (of > 1 && (every || alike == 1)) who += " " + record->configuration;
    if (of > 1 && !every && alike > 1) {
      how += fmt::format(" in {} of {} configurations, first {}", alike, of, record->configuration);
    }
    text += fmt::format("  {}{} {}: {}\n", who, peers ? " (peer)" : "", how, record->reason);
  }
  return text;
}

// Where a peer's time comes from decides what it is worth beside ours.
std::string origins_of(const std::vector<const Record*>& peers) {
  std::set<std::string> origins;
  for (const Record* peer : peers) {
    origins.insert(fmt::format("{}, {}, {}", peer->device_name, peer->toolkit,
                               peer->timestamp_utc.substr(0, 10)));
  }
  std::string text;
  for (const std::string& origin : origins) {
    text += fmt::format("  peers measured apart from this run: {}\n", origin);
  }
  return text;
}

// Of several replicas' the fastest, as of every ceiling.
std::string computed_by(const std::vector<const Record*>& controls) {
  double most = 0.0;
  for (const Record* control : controls) {
    if (!is_timed(*control)) continue;
    most = std::max(most, static_cast<double>(control->flops) / *control->median_ns);
  }
  if (most == 0.0) return "";
  return fmt::format("  compute ceiling, by control fma: {:.4g} {}FLOP/s in float32\n",
                     most >= 1e3 ? most / 1e3 : most, most >= 1e3 ? "T" : "G");
}

std::string group_table(const Group& group, const TableOptions& options) {
  Yardsticks yardsticks;
  for (const Record* record : group.ranked) {
    const auto& names = options.baselines;
    if (std::find(names.begin(), names.end(), record->variant) == names.end()) continue;
    // Of several configurations of the baseline the fastest is the fair one, and they are by time.
    yardsticks.baseline_ns = *record->median_ns;
    break;
  }
  if (const auto traits = options.devices.find(group.device); traits != options.devices.end()) {
    yardsticks.peak_gbps = traits->second.peak_gbps;
  }
  std::vector<std::vector<std::string>> rows = {{"variant", "outcome", "precision", "max abs err",
                                                 "1e-4", "bit-equal %", "median", "spread", "GB/s",
                                                 "% of copy", "% of peak", "speed-up", ""}};
  for (const Shown& row : shown_of(group, options.every)) {
    rows.push_back(row_of(row, name_of(row, options.every),
                          row.peer ? "" : marks(*row.record, group.ranked), yardsticks));
  }
  for (const Record* control : group.controls) {
    rows.push_back(row_of({.record = control}, control->variant, "", yardsticks));
  }
  constexpr std::array<std::size_t, 5> left = {0, 1, 2, 4, 12};
  std::vector<const Record*> without_verdict = group.rest;
  without_verdict.insert(without_verdict.end(), group.controls.begin(), group.controls.end());
  return align_filled(rows, left) + computed_by(group.controls) +
         reasons_of(without_verdict, group, false, options.every) +
         reasons_of(group.peers, group, true, options.every) + origins_of(group.peers);
}

}  // namespace

bool is_ranked(const Record& record) {
  return record.outcome == Outcome::passed && record.median_ns.has_value() && !is_control(record);
}

std::string number_or_dash(const std::optional<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
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

std::string align_filled(const std::vector<std::vector<std::string>>& rows,
                         std::span<const std::size_t> left) {
  std::vector<std::vector<std::string>> filled(rows.size());
  std::vector<std::size_t> new_left;
  for (std::size_t column = 0; column < rows.front().size(); ++column) {
    const bool any = std::any_of(rows.begin() + 1, rows.end(), [&](const auto& row) {
      return !row[column].empty() && row[column] != "-";
    });
    if (!any && column > 0) continue;
    if (std::find(left.begin(), left.end(), column) != left.end()) {
      new_left.push_back(filled.front().size());
    }
    for (std::size_t i = 0; i < rows.size(); ++i) filled[i].push_back(rows[i][column]);
  }
  return align(filled, new_left);
}

std::string result_table(std::span<const Record> records, const TableOptions& options) {
  std::string text;
  for (const Group& group : groups_of(records, options.peers)) {
    text += group.title + "\n" + group_table(group, options) + "\n";
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
  constexpr std::int64_t enough = 30;  // that the sampler takes where there is time
  const auto cut_short = std::count_if(records.begin(), records.end(), [&](const Record& r) {
    return is_ranked(r) && r.samples < enough && r.stop_reason == "max_seconds";
  });
  if (cut_short > 0) {
    text += fmt::format("{} {} fewer than {} samples: raise --max-time\n",
                        counted(static_cast<std::size_t>(cut_short), "result"),
                        cut_short == 1 ? "has" : "have", enough);
  }
  if (std::any_of(records.begin(), records.end(), is_poor_ceiling)) {
    text +=
        fmt::format("% of copy says little: a control has fewer than {} samples\n", least_samples);
  }
  if (std::any_of(records.begin(), records.end(),
                  [](const Record& r) { return is_ranked(r) && r.in_place; })) {
    text += "in place: the output overwrites the first input; such variants are not ranked with "
            "the others\n";
  }
  return text;
}

}  // namespace fusebench
