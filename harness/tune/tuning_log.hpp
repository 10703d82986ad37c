// The log of a search: a line a configuration, on disk before the next begins, so that a search that was killed
// goes on where it stopped.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace fusebench {

/// What all lines of a log have in common; a log of another is refused.
struct TuningTarget {
  std::string operator_name;
  std::string problem;
  std::string device;       ///< cpu or cuda
  std::string device_name;  ///< "NVIDIA H200"
};

/// What became of one configuration. Only lines with the same source, driver and toolkit are taken up again.
struct TuningEntry {
  std::string variant;
  std::string configuration;
  std::string outcome;
  std::string reason;
  double median_ns = 0.0;  ///< 0 where it has no time
  std::vector<double> samples_ns;
  double search_ns = 0.0;  ///< that the strategy took to propose it
  double total_ns = 0.0;   ///< compile, verify and samples
  std::string source;      ///< which sources the program was built from
  std::string driver;
  std::string toolkit;
  std::string timestamp;
};

class TuningLog {
 public:
  /// Opens a log or begins one. A last line that was cut off is taken away; everything else stays. Throws
  /// Error, and changes nothing, for a file that is no such log, is one of another target (naming what
  /// differs), or has a line within that cannot be read.
  TuningLog(const std::string& path, const TuningTarget& target);

  /// Those that were there when it was opened.
  [[nodiscard]] const std::vector<TuningEntry>& entries() const noexcept { return entries_; }
  /// Handed to the disk when this returns. Throws Error where that fails.
  void append(const TuningEntry& entry);

 private:
  void write_line(const std::string& line);

  std::string path_;
  std::vector<TuningEntry> entries_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace fusebench
