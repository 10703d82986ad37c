#include "harness/tune/tuning_log.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
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
    }
  }
  return history;
}

TuningLog::TuningLog(const std::string& path, const TuningTarget& target)
    : path_(path), file_(nullptr, std::fclose) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path, ignored);
  const std::string text = exists ? read_text_file(path) : "";
  // A file that ends within its first line is a log that was killed at birth only if it begins like one.
  const std::string begin = header_of(target).dump().substr(0, text.size());
  if (whole_lines(text) > 0 || text != begin) {
    TuningHistory history = parse_tuning_log(path, text);
    check_target(path, history.target, target);
    entries_ = std::move(history.entries);
  }
  const std::size_t whole = whole_lines(text);
  if (exists && whole < text.size()) std::filesystem::resize_file(path, whole);
  file_.reset(std::fopen(path.c_str(), "ab"));
  if (!file_) throw Error("cannot write {}: {}", path, std::strerror(errno));
  if (whole == 0) write_line(header_of(target).dump());
}

void TuningLog::append(const TuningEntry& entry) { write_line(json_of(entry).dump()); }

void TuningLog::write_line(const std::string& line) {
  const std::string whole = line + "\n";
  const bool written = std::fwrite(whole.data(), 1, whole.size(), file_.get()) == whole.size() &&
                       std::fflush(file_.get()) == 0 && fdatasync(fileno(file_.get())) == 0;
  if (!written) throw Error("cannot write {}: {}", path_, std::strerror(errno));
}

}  // namespace fusebench
