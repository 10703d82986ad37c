// Any bytes as a results file: read whole, or refused with an Error that names the file; nothing else. What was read, as
// rows and as records, is written by the program's writer and read back as the same. Built by scripts/fuzz with
// libFuzzer.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "harness/core/error.hpp"
#include "harness/record/csv_reader.hpp"
#include "harness/record/csv_rows.hpp"
#include "harness/record/csv_writer.hpp"

namespace {

using fusebench::CsvRow;
using fusebench::Error;
using fusebench::Record;

constexpr const char* name = "input.csv";

void require(bool holds) {
  if (!holds) std::abort();
}

void check_message(const Error& error) {
  require(std::string_view(error.what()).find(name) != std::string_view::npos);
}

std::vector<CsvRow> rows_of(std::string_view text) {
  std::vector<CsvRow> rows;
  fusebench::parse_csv_rows(name, text, [&](const CsvRow& row) { rows.push_back(row); });
  return rows;
}

// With a doubled quote in each row, which libcsv alone reads: what was split without it must be the same.
void rows_survive_a_round_trip(std::string_view text) {
  std::vector<CsvRow> rows;
  try {
    rows = rows_of(text);
  } catch (const Error& error) {
    return check_message(error);
  }
  std::string written;
  for (CsvRow& row : rows) {
    row.fields.emplace_back("\"");
    written += fusebench::csv_line(row.fields);
  }
  if (rows.empty()) return;
  const std::vector<CsvRow> again = rows_of(written);
  require(again.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) require(again[i].fields == rows[i].fields);
}

void record_survives_a_round_trip(const Record& record) {
  const std::vector<std::string> row = fusebench::record_row(record);
  const std::string written =
      fusebench::csv_line(fusebench::record_columns()) + fusebench::csv_line(row);
  std::size_t count = 0;
  fusebench::parse_records(name, written, [&](const Record& again) {
    require(fusebench::record_row(again) == row);
    ++count;
  });
  require(count == 1);
}

void records_are_read_or_refused(std::string_view text) {
  std::vector<Record> records;
  try {
    fusebench::parse_records(name, text, [&](const Record& record) { records.push_back(record); });
    require(!records.empty());
  } catch (const Error& error) {
    check_message(error);
  }
  // Those before a bad row too; a record that could be read can be written.
  for (const Record& record : records) record_survives_a_round_trip(record);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  rows_survive_a_round_trip(text);
  records_are_read_or_refused(text);
  return 0;
}
