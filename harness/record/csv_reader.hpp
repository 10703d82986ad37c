// Files of results read back into records, strictly: a file is understood whole or refused.
#pragma once

#include <string>
#include <vector>

#include "harness/core/record.hpp"

namespace fusebench {

/// The records of a results CSV (results/README.md), in the order of its rows. Columns are found by name,
/// in any order, and unknown ones ignored; the columns added last (battery, cases, judge, plan) may be
/// absent. A byte order mark, CRLF and whatever RFC 4180 quotes are read as they were meant.
/// Throws Error in one line that names the file, and where there is one the line and the column: cannot
/// be opened, no rows, cut off, ragged, broken quoting, another schema_version, a column missing or there
/// twice, a field that is not of its column's kind, a time that is negative or not finite.
[[nodiscard]] std::vector<Record> read_records(const std::string& path);

}  // namespace fusebench
