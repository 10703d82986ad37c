// fusebench: parse, run one subcommand, turn what went wrong into one line and an exit code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "fusebench_git_version.hpp"  // written by the build
#include "harness/cli/commands.hpp"
#include "harness/cli/options.hpp"
#include "harness/core/error.hpp"
#include "harness/core/revision.hpp"

namespace fusebench {
namespace {

// An empty text is a variable that was not set. What it was to name would be left out without a word.
void refuse_empty_options(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& result : option->results()) {
      if (!result.empty()) continue;
      throw Error("{} is empty; give it a value or leave it out; see 'fusebench {} --help'",
                  option->get_name(), app.get_name());
    }
  }
}

int dispatch(int argc, char** argv) {
  set_command_line(argc, argv);
  CLI::App program("Verifies, times and compares implementations of fused operators.\n"
                   "Exit codes: 0 as hoped, 1 a negative verdict (a wrong result, a regression), "
                   "2 no verdict.",
                   "fusebench");
  program.set_version_flag("--version",
                           fmt::format("fusebench {} ({})", git_version_release,
                                       revision(git_version_commit, git_version_dirty)));
  program.require_subcommand(1);
  program.failure_message([](const CLI::App* app, const CLI::Error& error) {
    std::string name = app->get_display_name();
    for (const CLI::App* one : app->get_subcommands()) name += " " + one->get_name();
    return fmt::format("fusebench: {}; see '{} --help'\n", error.what(), name);
  });
  const std::vector<Command> commands = {add_list_command(program),    add_run_command(program),
                                         add_verify_command(program),  add_compile_command(program),
                                         add_compare_command(program), add_ab_command(program),
                                         add_gbench_command(program),  add_tune_command(program),
                                         add_profile_command(program), add_worker_command(program)};
  // CLI11 would only say that a subcommand is required.
  const auto is_named = [&](const CLI::App* app) { return app->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && program.get_subcommands(is_named).empty()) {
    throw Error("no subcommand '{}'; see 'fusebench --help'", argv[1]);
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? as_hoped : no_verdict;
  }
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    refuse_empty_options(*command.app);
    const int code = command.run();
    if (std::fflush(stdout) != 0) {
      throw Error("cannot write to standard output: {}", std::strerror(errno));
    }
    return code;
  }
  return no_verdict;
}

}  // namespace
}  // namespace fusebench

int main(int argc, char** argv) {
  try {
    return fusebench::dispatch(argc, argv);
  } catch (const std::exception& error) {
    (void)std::fflush(stdout);
    fmt::print(stderr, "fusebench: {}\n", error.what());
    return fusebench::no_verdict;
  }
}
