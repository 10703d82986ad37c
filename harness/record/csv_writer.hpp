// Results as CSV (RFC 4180), each row on disk before the next case starts.
#pragma once

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/core/record.hpp"

namespace fusebench {

/// A row as a line with its end; what needs quotes has them.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& row);

/// What becomes of the rows that a file holds already.
enum class EarlierRows { replaced, kept };

/// A file of rows. Throws Error naming the file when it cannot be made or a write fails (a full disk).
class CsvFile {
 public:
  /// Replaces `path` and writes the header; or goes on behind the rows that it has, less a last one that was cut off.
  /// Throws Error, and changes nothing, where rows are to be kept and the file has another header.
  CsvFile(std::string path, const std::vector<std::string>& header,
          EarlierRows earlier = EarlierRows::replaced);

  void append(const std::vector<std::string>& row);
  /// Hands everything to the disk (fdatasync).
  void sync();

 private:
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

/// run.csv and, beside it, run.samples.csv with every sample.
class ResultFiles {
 public:
  explicit ResultFiles(const std::string& path, EarlierRows earlier = EarlierRows::replaced);
  void append(const Record& record, std::span<const Sample> samples);

 private:
  CsvFile records_;
  CsvFile samples_;
};

/// The header of the record file, in order.
[[nodiscard]] std::vector<std::string> record_columns();
/// A record's fields as text, in the same order: shortest round-trip numbers, true and false, and
/// empty where a figure does not exist.
[[nodiscard]] std::vector<std::string> record_row(const Record& record);
/// "results/run.csv" -> "results/run.samples.csv"
[[nodiscard]] std::string samples_path(const std::string& path);

}  // namespace fusebench
