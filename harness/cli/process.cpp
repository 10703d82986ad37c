// What all subcommands share of the process: its command line and its signals.
#include <atomic>
#include <csignal>

#include "harness/cli/commands.hpp"

namespace fusebench {
namespace {

// Written by a signal's handler, which must not wait, and read by every thread that waits for a worker.
std::atomic<int> interrupted = 0;
static_assert(std::atomic<int>::is_always_lock_free);
std::vector<std::string> given_command_line;

void on_signal(int) {
  if (interrupted < 2) ++interrupted;
}

}  // namespace

int interrupts_requested() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_handler = on_signal;  // no SA_RESTART: a waiting poll must wake
    return sigaction(SIGINT, &action, nullptr) == 0 && sigaction(SIGTERM, &action, nullptr) == 0;
  }();
  return installed ? interrupted.load() : 0;
}

bool interrupt_requested() { return interrupts_requested() > 0; }

const std::vector<std::string>& command_line() { return given_command_line; }

void set_command_line(int argc, char** argv) { given_command_line.assign(argv, argv + argc); }

}  // namespace fusebench
