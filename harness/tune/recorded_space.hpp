// A space with what became of each of its configurations: what a search is replayed on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/tune/search_space.hpp"

namespace fusebench {

/// How a configuration can fail, in T4's words; `constraints` is never part of a space.
enum class Invalidity { correct, compile, runtime, correctness, timeout };

/// Throws Error, listing those there are, for what is none.
[[nodiscard]] Invalidity parse_invalidity(const std::string& text);
[[nodiscard]] const char* to_string(Invalidity invalidity);

/// One measured configuration. Times are nanoseconds.
struct Observation {
  Invalidity invalidity = Invalidity::correct;
  std::string failure;   ///< in the recorder's own words; empty where it is correct
  double time_ns = 0.0;  ///< the objective; only where it is correct
  std::vector<double> samples_ns;
  double compile_ns = 0.0;
  double verify_ns = 0.0;
  double benchmark_ns = 0.0;
  double search_ns = 0.0;
  double framework_ns = 0.0;
  std::string timestamp;

  [[nodiscard]] bool passed() const { return invalidity == Invalidity::correct; }
  /// What a search pays for it: all of the above but the time the recording search took to think.
  [[nodiscard]] double cost_ns() const {
    return compile_ns + verify_ns + benchmark_ns + framework_ns;
  }
};

struct RecordedSpace {
  std::string kernel;
  std::string device;
  SearchSpace space;
  std::vector<Observation> observations;  ///< by the configuration's index
  std::optional<std::size_t> begin =
      {};                 ///< the default, which `tune` begins with; known of our logs
  bool unclosed = false;  ///< the recorder had not ended: there may be more to come
};

/// A Kernel Tuner cache file or a T4 file, plain or gzipped, known by what is in it. Parameters keep the
/// file's order; values keep Kernel Tuner's, and T4's are sorted. A cache that Kernel Tuner had not closed
/// yet is read as far as it goes. Configurations recorded as breaking constraints are left out.
/// Throws Error, naming the file and the entry, for any other file, an objective that is not a time, a value
/// that its parameter does not have, and a space in which nothing passed.
[[nodiscard]] RecordedSpace read_recorded_space(const std::string& path);

/// Each space of a file, by name: of a tuning log (tuning_log.hpp) one a variant that it has searched and that `filter` finds, an
/// ECMAScript regular expression on "operator variant"; of any other file the one, named after the file. Of a log the
/// entries with the same basis as the variant's last count, of one configuration the last. Throws Error as
/// read_recorded_space, and where `filter` leaves nothing.
struct NamedSpace {
  std::string name;
  RecordedSpace recorded;
};
[[nodiscard]] std::vector<NamedSpace> read_recorded_spaces(const std::string& path,
                                                           const std::string& filter);

/// The T4 document of a recorded space, in milliseconds, one result a line.
[[nodiscard]] std::string t4_text(const RecordedSpace& recorded);

}  // namespace fusebench
