// Another program, run to its end.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace fusebench {

struct ProgramEnd {
  int exit_code = -1;      ///< -1 when a signal ended it
  std::string how;         ///< "exit code 2", "signal 11 (Segmentation fault)"
  std::string last_words;  ///< its last line on standard error; may be empty
};

struct ProgramOptions {
  bool listen_to_output = false;  ///< its standard output has its words too, else it is dropped
  double most_seconds = std::numeric_limits<double>::infinity();
};

/// Throws Error naming `path` when it is no file that may be executed.
void require_program(const std::string& path);

/// Runs command[0], found by path alone, with the rest as arguments, until it ends itself; a child that it leaves behind is
/// killed then, and it dies with us. `interrupts`, how often we were told to stop, is asked several times a second: at
/// the first the program is told to end, at the second or 10 s later it is killed with its children, and Interrupted is
/// thrown. Throws Error when it cannot be started, or has not ended within `most_seconds` and was killed.
[[nodiscard]] ProgramEnd run_program(const std::vector<std::string>& command,
                                     const std::function<int()>& interrupts,
                                     const ProgramOptions& options = {});

}  // namespace fusebench
