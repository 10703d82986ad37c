#include "harness/record/csv_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "harness/core/error.hpp"
#include "harness/core/record_fields.hpp"
#include "harness/record/csv_rows.hpp"

namespace fusebench {
namespace {

constexpr std::string_view added_later[] = {"battery", "cases",    "judge",
                                            "plan",    "in_place", "flops"};

// A number by the whole of its text; false when it is none or does not fit.
template <typename T>
bool parse(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

bool parse(std::string_view text, bool& value) {
  value = text == "true";
  return value || text == "false";
}

bool parse(std::string_view text, std::string& value) {
  value = text;
  return true;
}

template <typename T>
bool parse(std::string_view text, std::optional<T>& value) {
  value.reset();
  return text.empty() || parse(text, value.emplace());
}

void parse_name(const std::string& text, Outcome& value) { value = parse_outcome(text); }
void parse_name(const std::string& text, Precision& value) { value = parse_precision(text); }
void parse_name(const std::string& text, DeviceKind& value) { value = parse_device_kind(text); }

template <typename T>
constexpr const char* kind_of() {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::optional<bool>>) {
    return "neither true nor false";
  } else if constexpr (std::is_integral_v<T>) {
    return "no whole number that fits";
  } else {
    return "no number";
  }
}

bool is_time(std::string_view column) { return column.ends_with("_ns"); }

// Put into words only for a message: there are as many places as fields.
struct Where {
  const std::string& path;
  std::int64_t line;
};

std::string to_string(const Where& where) { return fmt::format("{}:{}", where.path, where.line); }

template <typename T>
void read_field(const Where& where, std::string_view column, const std::string& text, T& value) {
  if constexpr (std::is_enum_v<T>) {
    try {
      parse_name(text, value);
    } catch (const Error& error) {
      throw Error("{}, column {}: {}", to_string(where), column, error.what());
    }
  } else {
    if (!parse(text, value)) {
      throw Error("{}, column {}: '{}' is {}", to_string(where), column, text, kind_of<T>());
    }
    if constexpr (std::is_same_v<T, std::optional<double>>) {
      if (is_time(column) && value && !(std::isfinite(*value) && *value >= 0.0)) {
        throw Error("{}, column {}: '{}' is no time", to_string(where), column, text);
      }
    }
  }
}

using Places = std::map<std::string, std::size_t, std::less<>>;

Places places_of(const std::string& path, const CsvRow& header) {
  Places places;
  for (std::size_t i = 0; i < header.fields.size(); ++i) {
    if (!places.emplace(header.fields[i], i).second) {
      throw Error("{}:{}: column {} is there twice", path, header.line, header.fields[i]);
    }
  }
  return places;
}

// First of all: of another version even the columns may differ.
void check_version(const std::string& path, const CsvRow& row, std::size_t place) {
  static const std::string expected = std::to_string(Record{}.schema_version);
  if (place >= row.fields.size() || row.fields[place] == expected) return;
  throw Error("{}:{}, column schema_version: '{}' is another version than {}, which this program "
              "reads",
              path, row.line, row.fields[place], expected);
}

// What is mistaken for results has a better name than its first missing column.
void refuse_other_files(const std::string& path, const Places& places) {
  if (places.contains("schema_version")) return;
  if (places.contains("verdict") && places.contains("old_median_ns")) {
    throw Error(
        "{} is what 'compare --csv' has written, not results; name the files of 'run --csv'", path);
  }
  if (places.contains("sample") && places.contains("ns")) {
    throw Error("{} has the samples of a run; name its results, the file without .samples", path);
  }
}

void check_columns(const std::string& path, const CsvRow& header, const Places& places) {
  refuse_other_files(path, places);
  const Record record;
  visit_fields(record, [&](std::string_view name, const auto&) {
    const bool required =
        std::find(std::begin(added_later), std::end(added_later), name) == std::end(added_later);
    if (required && !places.contains(name)) {
      throw Error("{}:{}: column {} is missing; results/README.md lists those of a results file",
                  path, header.line, name);
    }
  });
}

constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

// Takes the header, then rows. What the columns are is settled at the first row, which tells the version.
class RecordParser {
 public:
  RecordParser(const std::string& path, const std::function<void(const Record&)>& take)
      : path_(path), take_(take) {}

  void row(const CsvRow& row) {
    if (header_.fields.empty()) {
      header_ = row;
      places_ = places_of(path_, header_);
      if (const auto at = places_.find("schema_version"); at != places_.end())
        version_ = at->second;
      return;
    }
    if (version_ != nowhere) check_version(path_, row, version_);
    if (place_of_field_.empty()) settle_columns();
    const Where where{path_, row.line};
    check_length(where, row);
    auto place = place_of_field_.begin();
    // A column that is not there is in no row, so that its field keeps its default.
    visit_fields(record_, [&](std::string_view name, auto& value) {
      if (*place != nowhere) read_field(where, name, row.fields[*place], value);
      ++place;
    });
    // Left out of a comparison without a word it would hide what was measured.
    if (record_.outcome == Outcome::passed && record_.samples > 0 && !record_.median_ns) {
      throw Error("{}, column median_ns: it is empty, though the row passed with {} samples",
                  to_string(where), record_.samples);
    }
    take_(record_);
  }

  void finish() {
    if (header_.fields.empty()) throw Error("{}: the file has no header", path_);
    if (!place_of_field_.empty()) return;
    check_columns(path_, header_, places_);
    throw Error("{}:{}: there is a header and no row", path_, header_.line);
  }

 private:
  void settle_columns() {
    check_columns(path_, header_, places_);
    visit_fields(record_, [&](std::string_view name, const auto&) {
      const auto place = places_.find(name);
      place_of_field_.push_back(place == places_.end() ? nowhere : place->second);
    });
  }

  void check_length(const Where& where, const CsvRow& row) const {
    if (row.fields.size() == header_.fields.size()) return;
    const std::string last = row.fields.size() < header_.fields.size()
                                 ? ", column " + header_.fields[row.fields.size()]
                                 : "";
    throw Error("{}{}: the row has {} fields, the header {}", to_string(where), last,
                row.fields.size(), header_.fields.size());
  }

  const std::string& path_;
  const std::function<void(const Record&)>& take_;
  CsvRow header_;
  Places places_;
  std::size_t version_ = nowhere;
  std::vector<std::size_t> place_of_field_;
  Record record_;
};

}  // namespace

void parse_records(const std::string& path, std::string_view text,
                   const std::function<void(const Record&)>& take) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (begin != text.npos && (text[begin] == '{' || text[begin] == '[')) {
    throw Error("{} is JSON, not CSV; name the file of --csv", path);
  }
  RecordParser parser(path, take);
  parse_csv_rows(path, text, [&](const CsvRow& row) { parser.row(row); });
  parser.finish();
}

void read_records(const std::string& path, const std::function<void(const Record&)>& take) {
  parse_records(path, contents_of(path), take);
}

std::vector<Record> read_records(const std::string& path) {
  std::vector<Record> records;
  read_records(path, [&](const Record& record) { records.push_back(record); });
  return records;
}

}  // namespace fusebench
