#include "harness/record/csv_writer.hpp"

#include <csv.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <type_traits>

#include "harness/core/error.hpp"
#include "harness/core/record_fields.hpp"
#include "harness/record/csv_rows.hpp"

namespace fusebench {
namespace {

template <typename T>
std::string text_of(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(to_string(value));
  } else if constexpr (std::is_same_v<T, std::optional<double>> ||
                       std::is_same_v<T, std::optional<bool>>) {
    return value ? fmt::format("{}", *value) : std::string();
  } else {
    return fmt::format("{}", value);
  }
}

std::string quoted(const std::string& field) {
  const bool is_mark = field.starts_with("\xEF\xBB\xBF");  // in the first field it would be dropped
  if (field.find_first_of(",\"\r\n") == std::string::npos && !is_mark) return field;
  std::string text(2 * field.size() + 2, '\0');
  text.resize(csv_write(text.data(), text.size(), field.data(), field.size()));
  return text;
}

// Bytes up to the end of the last whole row: one that was being written has no end, or one inside quotes only.
std::size_t whole_rows(std::string_view text) {
  std::size_t whole = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\n' && !quoted) whole = i + 1;
  }
  return whole;
}

// What stays of a file whose rows are to be kept; 0 where it has none yet.
std::size_t bytes_to_keep(const std::string& path, const std::vector<std::string>& header) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return 0;
  const std::string text = contents_of(path);
  const std::string first = csv_line(header);
  if (first.starts_with(text)) return 0;  // empty, or killed at birth
  if (!text.starts_with(first)) {
    throw Error("cannot go on in {}: its columns are not those that this program writes; choose "
                "another file",
                path);
  }
  return whole_rows(text);
}

}  // namespace

CsvFile::CsvFile(std::string path, const std::vector<std::string>& header, EarlierRows earlier)
    : path_(std::move(path)), file_(nullptr, std::fclose) {
  const std::size_t kept = earlier == EarlierRows::kept ? bytes_to_keep(path_, header) : 0;
  file_.reset(std::fopen(path_.c_str(), kept > 0 ? "ae" : "we"));
  if (!file_) throw Error("cannot write {}: {}", path_, std::strerror(errno));
  if (kept == 0) {
    append(header);
  } else if (ftruncate(fileno(file_.get()), static_cast<off_t>(kept)) != 0) {
    throw Error("cannot write {}: {}", path_, std::strerror(errno));
  }
  sync();
}

std::string csv_line(const std::vector<std::string>& row) {
  if (row.size() == 1 && row[0].empty()) return "\"\"\n";  // an empty line is no row
  std::string line;
  for (const std::string& field : row) {
    if (&field != row.data()) line += ',';
    line += quoted(field);
  }
  return line + '\n';
}

void CsvFile::append(const std::vector<std::string>& row) {
  const std::string line = csv_line(row);
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size()) {
    throw Error("cannot write {}: {}", path_, std::strerror(errno));
  }
}

void CsvFile::sync() {
  // Pipes and terminals cannot be synced (EINVAL); there is nothing to lose there.
  const bool kept = std::fflush(file_.get()) == 0 &&
                    (fdatasync(fileno(file_.get())) == 0 || errno == EINVAL || errno == EROFS);
  if (!kept) throw Error("cannot write {}: {}", path_, std::strerror(errno));
}

ResultFiles::ResultFiles(const std::string& path, EarlierRows earlier)
    : records_(path, record_columns(), earlier),
      samples_(samples_path(path),
               {"run_id", "operator", "variant", "configuration", "problem", "device", "replica",
                "sample", "ns", "sm_clock_mhz", "throttled"},
               earlier) {}

void ResultFiles::append(const Record& record, std::span<const Sample> samples) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    samples_.append({record.run_id, record.operator_name, record.variant, record.configuration,
                     record.problem, std::string(to_string(record.device)),
                     std::to_string(record.replica), std::to_string(i),
                     fmt::format("{}", sample.ns),
                     sample.sm_clock_mhz > 0 ? fmt::format("{}", sample.sm_clock_mhz) : "",
                     sample.throttled ? "true" : "false"});
  }
  samples_.sync();
  records_.append(record_row(record));
  records_.sync();
}

std::vector<std::string> record_columns() {
  std::vector<std::string> columns;
  const Record record;
  visit_fields(record, [&](const char* name, const auto&) { columns.emplace_back(name); });
  return columns;
}

std::vector<std::string> record_row(const Record& record) {
  std::vector<std::string> row;
  visit_fields(record, [&](const char*, const auto& field) { row.push_back(text_of(field)); });
  return row;
}

std::string samples_path(const std::string& path) {
  std::filesystem::path samples(path);
  const std::string extension = samples.extension().string();
  samples.replace_extension(".samples" + (extension.empty() ? ".csv" : extension));
  return samples.string();
}

}  // namespace fusebench
