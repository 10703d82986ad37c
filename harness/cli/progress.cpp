#include "harness/cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "harness/cli/table.hpp"

namespace fusebench {
namespace {

std::string summary_of(const Record& record) {
  std::string text(to_string(record.outcome));
  if (record.median_ns) text += "  " + format_time(*record.median_ns);
  if (!record.reason.empty()) text += ": " + record.reason;
  return text;
}

}  // namespace

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::start(std::size_t index, std::size_t total, const Item& item) {
  start(fmt::format("{}/{}", index, total), item);
}

void Progress::start(const std::string& place, const Item& item) {
  silent_ = quiet_ || !item.unavailable.empty();  // the table says why, once for all of them
  head_ = fmt::format("[{}] {} {}", place, item.job.operator_name, item.job.variant);
  if (item.show_configuration) head_ += " " + item.job.configuration;
  if (item.job.replica > 0) head_ += fmt::format(" (replica {})", item.job.replica);
  head_ += " ...";
  status_.clear();
}

void Progress::status(const std::string& text) {
  status_ = text.empty() ? "" : "(" + text + ") ";
  const auto now = std::chrono::steady_clock::now();
  if (quiet_ || terminal_ || text.empty() || now - last_status_ < std::chrono::seconds(30)) return;
  last_status_ = now;
  fmt::print(stderr, "    {}\n", text);
}

void Progress::say(const std::string& line) {
  if (!quiet_) fmt::print(stderr, "{}{}\n", terminal_ ? "\r\033[K" : "", line);
}

void Progress::phase(const std::string& phase) {
  if (silent_ || !terminal_) return;
  fmt::print(stderr, "\r\033[K{} {}{}", head_, status_, phase);
  (void)std::fflush(stderr);
}

void Progress::result(const JobResult& result) {
  if (silent_) return;
  fmt::print(stderr, "{}{} {}\n", terminal_ ? "\r\033[K" : "", head_, summary_of(result.record));
  if (result.notes != notes_) {
    for (const std::string& note : result.notes) fmt::print(stderr, "    note: {}\n", note);
  }
  notes_ = result.notes;
}

}  // namespace fusebench
