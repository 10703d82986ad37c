#include "harness/cli/comparison_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/cli/commands.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/table.hpp"
#include "harness/core/error.hpp"
#include "harness/record/csv_writer.hpp"
#include "harness/record/json_writer.hpp"

namespace fusebench {
namespace {

using nlohmann::json;

// "0.5%" as 0.005; below 0 when it is no such thing.
double share_of(const std::string& text) {
  double value = 0;
  if (!text.ends_with('%')) return -1;
  const char* const end = text.data() + text.size() - 1;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool good = error == std::errc() && stop == end && value > 0 && value < 100;
  return good ? value / 100 : -1;
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

// One row, and one object, for each: the names are the CSV's columns and the JSON's keys.
template <typename Visitor>
void visit_columns(const SeriesComparison& s, Visitor&& visit) {
  const auto low = s.interval ? std::optional(s.interval->low) : std::nullopt;
  const auto high = s.interval ? std::optional(s.interval->high) : std::nullopt;
  visit("verdict", std::string(to_string(s.verdict)));
  visit("operator", s.id.operator_name);
  visit("variant", s.id.variant);
  visit("configuration", s.id.configuration);
  visit("problem", s.id.problem);
  visit("device", std::string(to_string(s.id.device)));
  visit("reason", s.reason);
  visit("old_replicas", static_cast<std::int64_t>(s.old_replicas));
  visit("new_replicas", static_cast<std::int64_t>(s.new_replicas));
  visit("old_median_ns", s.old_median_ns);
  visit("new_median_ns", s.new_median_ns);
  visit("ratio", s.ratio);
  visit("ratio_low", low);
  visit("ratio_high", high);
  visit("p", s.p);
  visit("adjusted_p", s.adjusted_p);
  visit("spread", s.spread);
}

struct AsText {
  std::vector<std::string>& row;
  void operator()(const char*, const std::string& value) const { row.push_back(value); }
  void operator()(const char*, std::int64_t value) const { row.push_back(std::to_string(value)); }
  void operator()(const char*, const std::optional<double>& v) const { row.push_back(number(v)); }
};

json as_json(const SeriesComparison& series) {
  json object = json::object();
  visit_columns(series, [&](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::optional<double>>) {
      object[name] = value ? json(*value) : json(nullptr);
    } else {
      object[name] = value;
    }
  });
  return object;
}

json list_of(const std::vector<SeriesComparison>& all) {
  json list = json::array();
  for (const SeriesComparison& series : all) list.push_back(as_json(series));
  return list;
}

void write_csv(const std::string& path, const Comparison& comparison) {
  std::vector<std::string> header;
  visit_columns(SeriesComparison{},
                [&](const char* name, const auto&) { header.emplace_back(name); });
  CsvFile file(path, header);
  for (const auto* part : {&comparison.series, &comparison.controls}) {
    for (const SeriesComparison& series : *part) {
      std::vector<std::string> row;
      visit_columns(series, AsText{row});
      file.append(row);
    }
  }
  file.sync();
}

constexpr std::array all_verdicts = {Verdict::newly_wrong, Verdict::slower,         Verdict::gone,
                                     Verdict::ambiguous,   Verdict::not_comparable, Verdict::added,
                                     Verdict::same,        Verdict::faster};

int exit_code_of(const Comparison& comparison) {
  if (comparison.regressed()) return negative_verdict;
  return comparison.decided() ? as_hoped : no_verdict;
}

json document_of(const Comparison& comparison, const std::string& before, const std::string& after,
                 const CompareRules& rules) {
  json counts = json::object();
  for (const Verdict verdict : all_verdicts) {
    counts[std::string(to_string(verdict))] = comparison.count(verdict);
  }
  return {{"schema_version", 1},
          {"old", before},
          {"new", after},
          {"exit_code", exit_code_of(comparison)},
          {"rules",
           {{"floor", rules.floor},
            {"p", rules.p},
            {"false_discoveries", rules.false_discoveries},
            {"confidence", rules.confidence},
            {"min_replicas", rules.min_replicas}}},
          {"counts", counts},
          {"series", list_of(comparison.series)},
          {"controls", list_of(comparison.controls)}};
}

std::string shown(const std::optional<double>& value, const char* pattern) {
  return value ? fmt::format(fmt::runtime(pattern), *value) : "-";
}

std::vector<std::string> row_of(const SeriesComparison& s) {
  return {std::string(to_string(s.verdict)),
          s.id.operator_name,
          s.id.variant,
          s.id.configuration,
          s.id.problem,
          std::string(to_string(s.id.device)),
          shown(s.ratio, "{:.4f}"),
          s.interval ? fmt::format("{:.4f} to {:.4f}", s.interval->low, s.interval->high) : "-",
          shown(s.p, "{:.2g}"),
          s.old_median_ns ? format_time(*s.old_median_ns) : "-",
          s.new_median_ns ? format_time(*s.new_median_ns) : "-",
          s.reason};
}

std::string table_of(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows = {{"verdict", "operator", "variant", "configuration",
                                                 "problem", "device", "ratio", "interval", "p",
                                                 "old median", "new median", ""}};
  for (const SeriesComparison& series : comparison.series) rows.push_back(row_of(series));
  for (const SeriesComparison& control : comparison.controls) rows.push_back(row_of(control));
  constexpr std::array<std::size_t, 8> left = {0, 1, 2, 3, 4, 5, 7, 11};
  return align(rows, left);
}

std::string summary_of(const Comparison& comparison) {
  std::vector<std::string> parts;
  for (const Verdict verdict : all_verdicts) {
    const std::size_t count = comparison.count(verdict);
    if (count > 0) parts.push_back(fmt::format("{} {}", count, to_string(verdict)));
  }
  std::string text =
      fmt::format("{} series: {}\n", comparison.series.size(), fmt::join(parts, ", "));
  for (const SeriesComparison& control : comparison.controls) {
    if (control.verdict != Verdict::slower && control.verdict != Verdict::faster) continue;
    text += fmt::format("the machine drifted: the control {} ({}) became {:.2f}% {}\n",
                        control.id.variant, control.id.problem,
                        100 * (std::max(*control.ratio, 1 / *control.ratio) - 1),
                        to_string(control.verdict));
  }
  return text;
}

}  // namespace

void ComparisonOptions::add_to(CLI::App& app) {
  app.add_option("--floor", floor, "the least change of a median that counts, in percent")
      ->check(CLI::Validator(
          [](std::string& text) {
            return share_of(text) > 0
                       ? std::string()
                       : "'" + text + "' is no percentage between 0% and 100%, such as 0.5%";
          },
          ""))
      ->capture_default_str();
  app.add_option("--csv", csv, "write a row for each series and control")->type_name("FILE");
  app.add_option("--json", json, "write them, with the rules and counts, as one document")
      ->type_name("FILE");
}

CompareRules ComparisonOptions::rules() const { return {.floor = share_of(floor)}; }

void ComparisonOptions::check_outputs(const std::vector<std::string>& inputs) const {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto is = [&](const std::string& a, const std::string& b) {
    return fs::weakly_canonical(a, ignored) == fs::weakly_canonical(b, ignored) ||
           fs::equivalent(a, b, ignored);
  };
  if (!csv.empty() && !json.empty() && is(csv, json)) {
    throw Error("--csv and --json both name {}; give them different files", csv);
  }
  for (const std::string& output : {csv, json}) {
    if (output.empty()) continue;
    for (const std::string& input : inputs) {
      if (is(output, input)) {
        throw Error("this would replace {}, which is compared; write to another file", input);
      }
    }
    const fs::path folder = fs::path(output).parent_path();
    if (!folder.empty() && !fs::is_directory(folder)) {
      throw Error("cannot write {}: there is no folder {}; make it first", output, folder.string());
    }
    if (fs::is_directory(output, ignored)) throw Error("cannot write {}: it is a folder", output);
  }
}

int report(const Comparison& comparison, const std::string& before, const std::string& after,
           const ComparisonOptions& options) {
  if (!options.csv.empty()) write_csv(options.csv, comparison);
  if (!options.json.empty()) {
    write_document(options.json, document_of(comparison, before, after, options.rules()));
  }
  fmt::print("{}{}", table_of(comparison), summary_of(comparison));
  const int code = exit_code_of(comparison);
  if (code == no_verdict) {
    const std::string why =
        comparison.series.empty()
            ? "there are none but controls"
            : fmt::format("the first is {}: {}", to_string(comparison.series.front().verdict),
                          comparison.series.front().reason);
    fmt::print(stderr, "fusebench: no series has a verdict; {}\n", why);
  }
  return code;
}

}  // namespace fusebench
