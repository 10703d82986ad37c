// The rows of a CSV file as text, with the lines on which they stand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fusebench {

struct CsvRow {
  std::int64_t line = 0;  ///< on which it begins, from 1
  std::vector<std::string> fields;
};

/// All rows of a file by RFC 4180, the header first, blanks kept and empty lines left out; lines may end
/// in CRLF and a UTF-8 byte order mark is dropped. Throws Error naming the file, and the line, when it
/// cannot be read, its quoting is broken, or its last line has no end, as after a kill.
[[nodiscard]] std::vector<CsvRow> read_csv_rows(const std::string& path);

}  // namespace fusebench
