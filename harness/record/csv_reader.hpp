// Files of results read back into records, strictly: a file is understood whole or refused.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/record.hpp"

namespace fusebench {

/// The records of a results CSV (results/README.md) as text, lent to `take` in the order of its rows.
/// Columns are found by name, in any order, and unknown ones ignored; the columns added last (battery,
/// cases, judge, plan) may be absent. A byte order mark, CRLF and whatever RFC 4180 quotes are read as they were meant.
/// Throws Error in one line that names the file, and where there is one the line and the column: cannot
/// be opened, no rows, cut off, ragged, broken quoting, another schema_version, a column missing or there
/// twice, a field that is not of its column's kind, a time that is negative or not finite, no median of a row that passed and
/// has samples; JSON, samples and what 'compare --csv' writes are refused by their names.
/// The file, `path`, is not read. Those before a bad row have been taken by then.
void parse_records(const std::string& path, std::string_view text,
                   const std::function<void(const Record&)>& take);

/// Those of a file, one by one: a large one is never in memory as records.
void read_records(const std::string& path, const std::function<void(const Record&)>& take);

/// Those of a file, in a list.
[[nodiscard]] std::vector<Record> read_records(const std::string& path);

}  // namespace fusebench
