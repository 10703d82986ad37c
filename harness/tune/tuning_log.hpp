// The log of a search: a line a configuration, on disk before the next begins, so that a search that was killed
// goes on where it stopped.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fusebench {

/// What all lines of a log have in common; a log of another is refused.
struct TuningTarget {
  std::string operator_name;
  std::string problem;
  std::string device;       ///< cpu or cuda
  std::string device_name;  ///< "NVIDIA H200"
};

/// What was measured with: an entry speaks of a search with the same only.
struct TuningBasis {
  std::string source;   ///< hash of the variant's own sources
  std::string options;  ///< of the compiler, beside the configuration's own
  std::string toolkit;  ///< the compiler
  std::string driver;
  std::string battery;  ///< how thoroughly each configuration was verified
  friend bool operator==(const TuningBasis&, const TuningBasis&) = default;
};

/// What became of one configuration. Times are nanoseconds.
struct TuningEntry {
  std::string stage = "search";  ///< or "final", the best measured again in turn, a sample a round
  std::string variant;
  std::string configuration;
  std::string outcome;
  std::string reason;
  double median_ns = 0.0;  ///< 0 where it has no time
  std::vector<double> samples_ns;
  double search_ns = 0.0;   ///< that the strategy took to propose it
  double ahead_ns = 0.0;    ///< that compiling it took elsewhere, while others were measured
  double compile_ns = 0.0;  ///< compiling, or finding what was compiled, when it was needed
  double verify_ns = 0.0;
  double measure_ns = 0.0;
  double total_ns =
      0.0;  ///< from the proposal to the outcome; what the three above leave is the harness's
  TuningBasis basis;
  std::string git_commit;  ///< of the program that measured it
  std::string timestamp;
};

/// A log as it is: its target and its entries, what was cut off at the end left out. Throws Error, naming the path and the
/// line, for a file that is no such log.
struct TuningHistory {
  TuningTarget target;
  std::vector<TuningEntry> entries;
};
[[nodiscard]] bool is_tuning_log(std::string_view text);
[[nodiscard]] TuningHistory parse_tuning_log(const std::string& path, const std::string& text);

class TuningLog {
 public:
  /// Opens a log or begins one, and holds it (flock) as long as this lives. A last line that was cut off is taken away;
  /// everything else stays. Throws Error, and changes nothing, for a file that is no such log, is one of another target (naming
  /// what differs), has a line within that cannot be read, is gzipped, or is held by another.
  TuningLog(const std::string& path, const TuningTarget& target);

  /// Those that were there when it was opened.
  [[nodiscard]] const std::vector<TuningEntry>& entries() const noexcept { return entries_; }
  /// Handed to the disk when this returns; bytes that are no UTF-8 are replaced. Throws Error where that fails.
  void append(const TuningEntry& entry);

 private:
  void write_line(const std::string& line);

  std::string path_;
  std::vector<TuningEntry> entries_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace fusebench
