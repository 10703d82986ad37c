// Another program, run to its end.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace fusebench {

struct ProgramEnd {
  int exit_code = -1;      ///< -1 when a signal ended it
  std::string how;         ///< "exit code 2", "signal 11 (Segmentation fault)"
  std::string last_words;  ///< its last line on standard error; may be empty
};

/// Throws Error naming `path` when it is no file that may be executed.
void require_program(const std::string& path);

/// Runs command[0], found by path alone, with the rest as arguments; what it prints is dropped. It dies with us.
/// `interrupted` is asked several times a second; then the program is told to end, waited for, and Interrupted is
/// thrown. Throws Error when it cannot be started.
[[nodiscard]] ProgramEnd run_program(const std::vector<std::string>& command,
                                     const std::function<bool()>& interrupted);

}  // namespace fusebench
