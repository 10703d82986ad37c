#include "harness/cli/comparison_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/cli/commands.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/table.hpp"
#include "harness/compare/size.hpp"
#include "harness/record/csv_writer.hpp"
#include "harness/record/json_writer.hpp"
#include "harness/record/whole_file.hpp"

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

bool is_control(const SeriesComparison& s) { return s.id.operator_name == control_operator; }

// "slower" of a control would read as a regression, which it is not.
std::string_view word_for_control(Verdict verdict) {
  switch (verdict) {
    case Verdict::newly_wrong: return "failed";
    case Verdict::slower: return "drifted slower";
    case Verdict::faster: return "drifted faster";
    case Verdict::same: return "steady";
    case Verdict::ambiguous: return "uncertain";
    case Verdict::gone:
    case Verdict::not_comparable:
    case Verdict::added: break;
  }
  return to_string(verdict);
}

std::string word_for(const SeriesComparison& s) {
  return std::string(is_control(s) ? word_for_control(s.verdict) : to_string(s.verdict));
}

// One row, and one object, for each: the names are the CSV's columns and the JSON's keys.
template <typename Visitor>
void visit_columns(const SeriesComparison& s, Visitor&& visit) {
  const auto low = s.interval ? std::optional(s.interval->low) : std::nullopt;
  const auto high = s.interval ? std::optional(s.interval->high) : std::nullopt;
  visit("verdict", word_for(s));
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
  visit("control", is_control(s));
}

struct AsText {
  std::vector<std::string>& row;
  void operator()(const char*, const std::string& value) const { row.push_back(value); }
  void operator()(const char*, std::int64_t value) const { row.push_back(std::to_string(value)); }
  void operator()(const char*, bool value) const { row.emplace_back(value ? "true" : "false"); }
  void operator()(const char*, const std::optional<double>& value) const {
    row.push_back(value ? fmt::format("{}", *value) : "");
  }
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
  std::string text = csv_line(header);
  for (const auto* part : {&comparison.series, &comparison.controls}) {
    for (const SeriesComparison& series : *part) {
      std::vector<std::string> row;
      visit_columns(series, AsText{row});
      text += csv_line(row);
    }
  }
  write_whole_file(path, text);
}

constexpr std::array all_verdicts = {Verdict::newly_wrong, Verdict::slower,         Verdict::gone,
                                     Verdict::ambiguous,   Verdict::not_comparable, Verdict::added,
                                     Verdict::same,        Verdict::faster};

int exit_code_of(const Comparison& comparison) {
  if (comparison.regressed()) return negative_verdict;
  return comparison.decided() ? as_hoped : no_verdict;
}

json document_of(const Comparison& comparison, const ComparedSides& sides,
                 const CompareRules& rules) {
  json counts = json::object();
  for (const Verdict verdict : all_verdicts) {
    counts[std::string(to_string(verdict))] = comparison.count(verdict);
  }
  return {{"schema_version", 1},
          {"old", sides.before},
          {"new", sides.after},
          {"seed", sides.seed ? json(*sides.seed) : json(nullptr)},
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

// Five significant digits: what is called here may be half a percent.
std::string shown_time(const std::optional<double>& ns) {
  if (!ns) return "-";
  if (*ns < 1e3) return fmt::format("{:#.5g} ns", *ns);
  if (*ns < 1e6) return fmt::format("{:#.5g} us", *ns / 1e3);
  if (*ns < 1e9) return fmt::format("{:#.5g} ms", *ns / 1e6);
  return fmt::format("{:#.5g} s", *ns / 1e9);
}

// A reason may quote what a candidate said; a line of the table stays one.
std::string on_one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

std::vector<std::string> row_of(const SeriesComparison& s) {
  std::vector<std::string> row = {
      word_for(s),
      s.id.operator_name,
      s.id.variant,
      s.id.configuration,
      s.id.problem,
      std::string(to_string(s.id.device)),
      number_or_dash(s.ratio, "{:.4f}"),
      s.interval ? fmt::format("{:.4f} to {:.4f}", s.interval->low, s.interval->high) : "-",
      s.spread ? percent(*s.spread) : "-",
      number_or_dash(s.p, "{:.2g}"),
      shown_time(s.old_median_ns),
      shown_time(s.new_median_ns),
      s.reason};
  for (std::string& field : row) field = on_one_line(std::move(field));
  return row;
}

std::string table_of(const std::vector<SeriesComparison>& all, const char* first_column) {
  std::vector<std::vector<std::string>> rows = {
      {first_column, "operator", "variant", "configuration", "problem", "device", "ratio",
       "interval", "spread", "p", "old median", "new median", ""}};
  for (const SeriesComparison& series : all) rows.push_back(row_of(series));
  // What all rows share stands above them once.
  constexpr std::array<std::size_t, 3> may_be_shared = {1, 4, 5};  // operator, problem, device
  std::string heading;
  for (const std::size_t column : may_be_shared) {
    const bool shared = std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) {
      return row[column] == rows[1][column];
    });
    if (!shared || all.empty()) continue;
    heading +=
        fmt::format("{}{} {}", heading.empty() ? "" : ", ", rows[0][column], rows[1][column]);
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) (*row)[column].clear();
  }
  constexpr std::array<std::size_t, 8> left = {0, 1, 2, 3, 4, 5, 7, 12};
  return (heading.empty() ? "" : heading + "\n") + align_filled(rows, left);
}

std::string tables_of(const Comparison& comparison) {
  std::string text = table_of(comparison.series, "verdict");
  if (comparison.controls.empty()) return text;
  return text + "\ncontrols (of the machine, no verdict)\n" +
         table_of(comparison.controls, "state") + "\n";
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
    const std::string who =
        on_one_line(fmt::format("the control {} ({})", control.id.variant, control.id.problem));
    if (control.failed) {
      text += fmt::format("{} did not pass: shares of the ceiling, and the guard against a slow "
                          "night, are void where it is missing: {}\n",
                          who, on_one_line(control.reason));
    } else if (!control.ratio) {
      // New and gone say it all themselves.
      text +=
          fmt::format("{} does not compare, so a slow night may look like slow kernels: {}\n", who,
                      control.reason.empty() ? std::string(to_string(control.verdict))
                                             : on_one_line(control.reason));
    } else if (control.verdict == Verdict::slower || control.verdict == Verdict::faster) {
      text += fmt::format("the machine drifted: {} became {} {}\n", who, percent(*control.size),
                          to_string(control.verdict));
    }
  }
  return text;
}

std::string name_of(const SeriesId& id) {
  return fmt::format("{} {} {} {} {}", id.operator_name, id.variant, id.configuration, id.problem,
                     to_string(id.device));
}

// Why the exit code is 2.
std::string why_no_verdict(const Comparison& comparison) {
  const auto& all = comparison.series;
  if (all.empty()) return "no series has a verdict; there are none but controls";
  const auto is_out_of_reach = [](const SeriesComparison& s) { return s.out_of_reach; };
  const auto first = std::find_if(all.begin(), all.end(), is_out_of_reach);
  if (first == all.end()) {
    return fmt::format("no series has a verdict; the first is {}: {}",
                       to_string(all.front().verdict), all.front().reason);
  }
  return fmt::format("no verdict on {} of {} series that changed; {}: {}",
                     std::count_if(all.begin(), all.end(), is_out_of_reach), all.size(),
                     name_of(first->id), first->reason);
}

// A build that lost half of its variants has nothing slower.
std::string what_is_gone(const Comparison& comparison) {
  const std::size_t count = comparison.count(Verdict::gone);
  const auto first =
      std::find_if(comparison.series.begin(), comparison.series.end(),
                   [](const SeriesComparison& s) { return s.verdict == Verdict::gone; });
  return fmt::format("{} series {} gone, the first {}: {}", count, count == 1 ? "is" : "are",
                     name_of(first->id), first->reason);
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

void ComparisonOptions::check_outputs(const std::vector<std::string>& inputs,
                                      const std::vector<OutputFile>& others) const {
  std::vector<OutputFile> outputs = {{"--csv", csv}, {"--json", json}};
  outputs.insert(outputs.end(), others.begin(), others.end());
  check_output_files(outputs, inputs);
}

int report(const Comparison& comparison, const ComparedSides& sides,
           const ComparisonOptions& options) {
  // The table first: a disk that is full must not keep a regression from being read.
  fmt::print("{}{}", tables_of(comparison), summary_of(comparison));
  (void)std::fflush(stdout);  // what follows goes to another stream, perhaps of the same file
  const int code = exit_code_of(comparison);
  if (code == no_verdict) {
    fmt::print(stderr, "fusebench: {}\n", on_one_line(why_no_verdict(comparison)));
  } else if (comparison.count(Verdict::gone) > 0) {
    fmt::print(stderr, "fusebench: {}\n", on_one_line(what_is_gone(comparison)));
  }
  if (!options.csv.empty()) write_csv(options.csv, comparison);
  if (!options.json.empty()) {
    write_document(options.json, document_of(comparison, sides, options.rules()));
  }
  return code;
}

}  // namespace fusebench
