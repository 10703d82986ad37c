#include "harness/tune/tuning_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "harness/core/error.hpp"
#include "harness/tune/text_file.hpp"

namespace fusebench {
namespace {

using nlohmann::ordered_json;

constexpr int version = 2;
constexpr const char* mark = "fusebench_tuning_log";

ordered_json header_of(const TuningTarget& target) {
  return {{mark, version},
          {"operator", target.operator_name},
          {"problem", target.problem},
          {"device", target.device},
          {"device_name", target.device_name}};
}

// Calls visit(name, member) for each member of a line.
template <typename Entry, typename Visitor>
void visit_entry(Entry& entry, Visitor&& visit) {
  visit("stage", entry.stage);
  visit("variant", entry.variant);
  visit("configuration", entry.configuration);
  visit("outcome", entry.outcome);
  visit("reason", entry.reason);
  visit("median_ns", entry.median_ns);
  visit("samples_ns", entry.samples_ns);
  visit("search_ns", entry.search_ns);
  visit("ahead_ns", entry.ahead_ns);
  visit("compile_ns", entry.compile_ns);
  visit("verify_ns", entry.verify_ns);
  visit("measure_ns", entry.measure_ns);
  visit("total_ns", entry.total_ns);
  visit("source", entry.basis.source);
  visit("options", entry.basis.options);
  visit("toolkit", entry.basis.toolkit);
  visit("driver", entry.basis.driver);
  visit("battery", entry.basis.battery);
  visit("git_commit", entry.git_commit);
  visit("timestamp", entry.timestamp);
}

ordered_json json_of(const TuningEntry& entry) {
  ordered_json line;
  visit_entry(entry, [&](const char* name, const auto& value) { line[name] = value; });
  return line;
}

TuningEntry entry_of(const ordered_json& line) {
  TuningEntry entry;
  visit_entry(entry, [&](const char* name, auto& value) { line.at(name).get_to(value); });
  const bool passed = entry.outcome == "passed";
  if (!std::isfinite(entry.median_ns) || entry.median_ns < 0.0 ||
      (passed && entry.median_ns == 0.0)) {
    throw Error("its median_ns is {}, which is no time", entry.median_ns);
  }
  return entry;
}

TuningTarget target_of(const std::string& path, const std::string& line) {
  const auto found = ordered_json::parse(line, nullptr, false);
  if (!found.is_object() || !found.contains(mark)) {
    throw Error("{} is no tuning log; choose another file", path);
  }
  if (found[mark] != version) {
    throw Error("{} is a tuning log of version {}, and this program's is {}; choose another file",
                path, found[mark].dump(), version);
  }
  const auto text = [&](const char* key) {
    if (!found.contains(key) || !found[key].is_string()) {
      throw Error("{}:1 cannot be read: '{}' is missing; choose another file", path, key);
    }
    return found[key].get<std::string>();
  };
  return {text("operator"), text("problem"), text("device"), text("device_name")};
}

void check_target(const std::string& path, const TuningTarget& found, const TuningTarget& wanted) {
  const ordered_json there = header_of(found);
  const ordered_json here = header_of(wanted);
  for (const auto& [key, value] : here.items()) {
    if (there[key] == value) continue;
    throw Error(
        "{} is a tuning log of {} {}, and this search is of {}; choose another file for --log",
        path, key, there[key].dump(), value.dump());
  }
}

// Bytes up to the end of the last whole line: what stands behind it was being written when the search was killed.
std::size_t whole_lines(std::string_view text) {
  const std::size_t last = text.rfind('\n');
  return last == std::string_view::npos ? 0 : last + 1;
}

// Opened to read and to append, made where there is none, and held against other searches while it is open. Only a
// regular file can be mended and gone on from.
int open_locked(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) throw Error("cannot write {}: {}", path, std::strerror(errno));
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    (void)close(file);
    throw Error("cannot keep a log in {}: it is no regular file; choose another file", path);
  }
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    (void)close(file);
    if (reason != EWOULDBLOCK) throw Error("cannot lock {}: {}", path, std::strerror(reason));
    throw Error("another search writes {}; wait for its end, or choose another file for --log",
                path);
  }
  return file;
}

}  // namespace

bool is_tuning_log(std::string_view text) {
  return text.substr(0, text.find('\n')).find(fmt::format("\"{}\"", mark)) !=
         std::string_view::npos;
}

TuningHistory parse_tuning_log(const std::string& path, const std::string& text) {
  const std::size_t whole = whole_lines(text);
  if (whole == 0) throw Error("{} is no tuning log; choose another file", path);
  TuningHistory history;
  std::size_t number = 1;
  for (std::size_t begin = 0; begin < whole; ++number) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (number == 1) {
      history.target = target_of(path, line);
      continue;
    }
    try {
      history.entries.push_back(entry_of(ordered_json::parse(line)));
    } catch (const ordered_json::exception&) {
      throw Error("{}:{} cannot be read; take the line away or choose another file", path, number);
    } catch (const Error& error) {
      throw Error("{}:{} cannot be read: {}; take the line away or choose another file", path,
                  number, error.what());
    }
  }
  return history;
}

TuningLog::TuningLog(const std::string& path, const TuningTarget& target)
    : path_(path), file_(nullptr, std::fclose) {
  const int descriptor = open_locked(path);
  file_.reset(fdopen(descriptor, "ab"));
  if (!file_) {
    const int reason = errno;
    (void)close(descriptor);
    throw Error("cannot write {}: {}", path, std::strerror(reason));
  }
  // Behind what is packed a line cannot be written.
  if (is_gzipped(path)) throw Error("{} is gzipped; gunzip it first", path);
  const std::string text = read_text_file(path);
  // A file that ends within its first line is a log that was killed at birth only if it begins like one.
  const std::string begin = header_of(target).dump().substr(0, text.size());
  const bool at_birth = text.empty() || (text == begin && is_tuning_log(text));
  if (whole_lines(text) > 0 || !at_birth) {
    TuningHistory history = parse_tuning_log(path, text);
    check_target(path, history.target, target);
    entries_ = std::move(history.entries);
  }
  const std::size_t whole = whole_lines(text);
  if (whole < text.size() && ftruncate(descriptor, static_cast<off_t>(whole)) != 0) {
    throw Error("cannot write {}: {}", path, std::strerror(errno));
  }
  if (whole == 0) write_line(header_of(target).dump());
}

void TuningLog::append(const TuningEntry& entry) {
  // What a candidate throws need not be UTF-8.
  write_line(json_of(entry).dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

void TuningLog::write_line(const std::string& line) {
  const std::string whole = line + "\n";
  const bool written = std::fwrite(whole.data(), 1, whole.size(), file_.get()) == whole.size() &&
                       std::fflush(file_.get()) == 0 && fdatasync(fileno(file_.get())) == 0;
  if (!written) throw Error("cannot write {}: {}", path_, std::strerror(errno));
}

}  // namespace fusebench
