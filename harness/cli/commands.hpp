// The subcommands. Each adds itself to the program and returns what runs it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace fusebench {

/// A subcommand and what to call, giving the exit code, when it was chosen.
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

[[nodiscard]] Command add_list_command(CLI::App& program);
[[nodiscard]] Command add_run_command(CLI::App& program);
[[nodiscard]] Command add_verify_command(CLI::App& program);
[[nodiscard]] Command add_compile_command(CLI::App& program);
[[nodiscard]] Command add_ab_command(CLI::App& program);
[[nodiscard]] Command add_compare_command(CLI::App& program);
[[nodiscard]] Command add_gbench_command(CLI::App& program);
[[nodiscard]] Command add_profile_command(CLI::App& program);
[[nodiscard]] Command add_tune_command(CLI::App& program);
[[nodiscard]] Command add_worker_command(CLI::App& program);

/// The command line as it was given, for records.
[[nodiscard]] const std::vector<std::string>& command_line();
void set_command_line(int argc, char** argv);

/// True once Ctrl-C or SIGTERM arrived; from the first call on they no longer end the process.
[[nodiscard]] bool interrupt_requested();

/// How many of them, up to two: the second is for what did not heed the first.
[[nodiscard]] int interrupts_requested();

}  // namespace fusebench
