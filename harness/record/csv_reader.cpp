#include "harness/record/csv_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
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

constexpr std::string_view added_later[] = {"battery", "cases", "judge", "plan", "in_place"};

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

template <typename T>
void read_field(const std::string& where, std::string_view column, const std::string& text,
                T& value) {
  if constexpr (std::is_enum_v<T>) {
    try {
      parse_name(text, value);
    } catch (const Error& error) {
      throw Error("{}, column {}: {}", where, column, error.what());
    }
  } else {
    if (!parse(text, value)) {
      throw Error("{}, column {}: '{}' is {}", where, column, text, kind_of<T>());
    }
    if constexpr (std::is_same_v<T, std::optional<double>>) {
      if (is_time(column) && value && !(std::isfinite(*value) && *value >= 0.0)) {
        throw Error("{}, column {}: '{}' is no time", where, column, text);
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
void check_version(const std::string& path, const std::vector<CsvRow>& rows, std::size_t place) {
  const std::string expected = std::to_string(Record{}.schema_version);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto& fields = rows[i].fields;
    if (place >= fields.size() || fields[place] == expected) continue;
    throw Error("{}:{}, column schema_version: '{}' is another version than {}, which this program "
                "reads",
                path, rows[i].line, fields[place], expected);
  }
}

void check_columns(const std::string& path, const CsvRow& header, const Places& places) {
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

}  // namespace

std::vector<Record> read_records(const std::string& path) {
  const std::vector<CsvRow> rows = read_csv_rows(path);
  if (rows.empty()) throw Error("{}: the file has no header", path);
  const CsvRow& header = rows.front();
  const Places places = places_of(path, header);
  if (const auto version = places.find("schema_version"); version != places.end()) {
    check_version(path, rows, version->second);
  }
  check_columns(path, header, places);
  if (rows.size() == 1) throw Error("{}:{}: there is a header and no row", path, header.line);

  std::vector<Record> records;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const CsvRow& row = rows[i];
    const std::string where = fmt::format("{}:{}", path, row.line);
    if (row.fields.size() != header.fields.size()) {
      const std::string last = row.fields.size() < header.fields.size()
                                   ? ", column " + header.fields[row.fields.size()]
                                   : "";
      throw Error("{}{}: the row has {} fields, the header {}", where, last, row.fields.size(),
                  header.fields.size());
    }
    Record& record = records.emplace_back();
    visit_fields(record, [&](std::string_view name, auto& value) {
      const auto place = places.find(name);
      if (place != places.end()) read_field(where, name, row.fields[place->second], value);
    });
  }
  return records;
}

}  // namespace fusebench
