// The rows of a CSV file as text, with the lines on which they stand.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fusebench {

struct CsvRow {
  std::int64_t line = 0;  ///< on which it begins, from 1
  std::vector<std::string> fields;
};

/// The bytes of a file. Throws Error naming it when it cannot be read.
[[nodiscard]] std::string contents_of(const std::string& path);

/// All rows of a CSV text by RFC 4180, the header first, blanks kept and empty lines left out; lines may end
/// in CRLF and a UTF-8 byte order mark is dropped. A row is lent to `take`, one by one. Throws Error naming
/// the file (`path`, which is not read) and the line when it is empty, its quoting is broken, or its last
/// line has no end, as after a kill, by then with the rows before taken; and what `take` throws.
void parse_csv_rows(const std::string& path, std::string_view text,
                    const std::function<void(const CsvRow&)>& take);

/// Those of a file, in a list.
[[nodiscard]] std::vector<CsvRow> read_csv_rows(const std::string& path);

}  // namespace fusebench
