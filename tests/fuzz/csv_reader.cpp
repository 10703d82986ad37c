// Any bytes as a results file: read whole, or refused with an Error that names the file; nothing else, and what was
// read is written and read back as the same. Built by scripts/fuzz with libFuzzer.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "harness/core/error.hpp"
#include "harness/record/csv_reader.hpp"
#include "harness/record/csv_rows.hpp"

namespace {

using fusebench::CsvRow;
using fusebench::Error;

constexpr const char* name = "input.csv";

void require(bool holds) {
  if (!holds) std::abort();
}

void check_message(const Error& error) {
  require(std::string_view(error.what()).find(name) != std::string_view::npos);
}

std::string quoted(const std::string& field) {
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

std::vector<CsvRow> rows_of(std::string_view text) {
  std::vector<CsvRow> rows;
  fusebench::parse_csv_rows(name, text, [&](const CsvRow& row) { rows.push_back(row); });
  return rows;
}

void rows_survive_a_round_trip(std::string_view text) {
  std::vector<CsvRow> rows;
  try {
    rows = rows_of(text);
  } catch (const Error& error) {
    return check_message(error);
  }
  std::string written;
  for (const CsvRow& row : rows) {
    for (const std::string& field : row.fields) {
      if (&field != row.fields.data()) written += ',';
      written += quoted(field);
    }
    written += '\n';
  }
  if (rows.empty()) return;
  const std::vector<CsvRow> again = rows_of(written);
  require(again.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) require(again[i].fields == rows[i].fields);
}

void records_are_read_or_refused(std::string_view text) {
  std::size_t count = 0;
  try {
    fusebench::parse_records(name, text, [&](const fusebench::Record&) { ++count; });
  } catch (const Error& error) {
    return check_message(error);
  }
  require(count > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  rows_survive_a_round_trip(text);
  records_are_read_or_refused(text);
  return 0;
}
