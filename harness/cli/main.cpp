// fusebench: parse, run one subcommand, turn what went wrong into one line and an exit code.
#include <csignal>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <string>
#include <vector>

#include "fusebench_git_version.hpp"  // written by the build
#include "harness/cli/commands.hpp"
#include "harness/cli/options.hpp"

namespace fusebench {
namespace {

volatile std::sig_atomic_t interrupted = 0;
std::vector<std::string> given_command_line;

void on_signal(int) { interrupted = 1; }

}  // namespace

bool interrupt_requested() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_handler = on_signal;  // no SA_RESTART: a waiting poll must wake
    return sigaction(SIGINT, &action, nullptr) == 0 && sigaction(SIGTERM, &action, nullptr) == 0;
  }();
  return installed && interrupted != 0;
}

const std::vector<std::string>& command_line() { return given_command_line; }

namespace {

int run_program(int argc, char** argv) {
  given_command_line.assign(argv, argv + argc);
  CLI::App program(
      "Verifies, times and compares implementations of fused operators.\n"
      "Exit codes: 0 as hoped, 1 a negative verdict (a wrong result), 2 no verdict.",
      "fusebench");
  program.set_version_flag("--version", fmt::format("fusebench {} ({}{})", git_version_release,
                                                    git_version_commit,
                                                    git_version_dirty ? ", modified" : ""));
  program.require_subcommand(1);
  program.failure_message([](const CLI::App* app, const CLI::Error& error) {
    return fmt::format("fusebench: {}; see '{} --help'\n", error.what(), app->get_display_name());
  });
  const std::vector<Command> commands = {add_list_command(program),    add_run_command(program),
                                         add_verify_command(program),  add_compile_command(program),
                                         add_gbench_command(program),  add_worker_command(program)};
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? as_hoped : no_verdict;
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return no_verdict;
}

}  // namespace
}  // namespace fusebench

int main(int argc, char** argv) {
  try {
    return fusebench::run_program(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fusebench: {}\n", error.what());
    return fusebench::no_verdict;
  }
}
