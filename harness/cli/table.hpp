// The table of a run, as text.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/core/device_traits.hpp"
#include "harness/core/record.hpp"

namespace fusebench {

/// Columns as wide as their contents, the first left-aligned, the others right-aligned; columns in
/// `left` left-aligned too.
[[nodiscard]] std::string align(const std::vector<std::vector<std::string>>& rows,
                                std::span<const std::size_t> left);

/// align() of the columns that some row behind the first, the header, fills with more than "-"; and of the first column.
[[nodiscard]] std::string align_filled(const std::vector<std::vector<std::string>>& rows,
                                       std::span<const std::size_t> left);

struct TableOptions {
  std::vector<std::string> baselines;  ///< names of the unfused variants
  std::map<DeviceKind, DeviceTraits> devices = {};
  std::span<const Record> peers = {};  ///< of other files: shown by time, never ranked
  bool every = false;                  ///< every configuration, not only the best of each variant
};

/// One table for each operator, device and problem: what passed by time with the peers between, then the
/// rest, then the controls, what went wrong, and a line that says what the marks mean. A column that no row fills is left out,
/// and so is the spread of fewer than 5 samples; how many results --max-time left with fewer than 30 is told below.
[[nodiscard]] std::string result_table(std::span<const Record> records,
                                       const TableOptions& options);

/// A figure in a pattern of fmt, "{:.2f}"; "-" where there is none.
[[nodiscard]] std::string number_or_dash(const std::optional<double>& value, const char* format);

/// 1234567 ns -> "1.2346 ms"
[[nodiscard]] std::string format_time(double ns);

/// What ranks: passed, timed, and no control.
[[nodiscard]] bool is_ranked(const Record& record);

}  // namespace fusebench
