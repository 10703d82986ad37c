#include "harness/tune/tuning_log.hpp"

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

ordered_json header_of(const TuningTarget& target) {
  return {{"fusebench_tuning_log", 1},
          {"operator", target.operator_name},
          {"problem", target.problem},
          {"device", target.device},
          {"device_name", target.device_name}};
}

ordered_json json_of(const TuningEntry& entry) {
  return {{"variant", entry.variant},     {"configuration", entry.configuration},
          {"outcome", entry.outcome},     {"reason", entry.reason},
          {"median_ns", entry.median_ns}, {"samples_ns", entry.samples_ns},
          {"search_ns", entry.search_ns}, {"total_ns", entry.total_ns},
          {"source", entry.source},       {"driver", entry.driver},
          {"toolkit", entry.toolkit},     {"timestamp", entry.timestamp}};
}

TuningEntry entry_of(const ordered_json& line) {
  TuningEntry entry;
  line.at("variant").get_to(entry.variant);
  line.at("configuration").get_to(entry.configuration);
  line.at("outcome").get_to(entry.outcome);
  line.at("reason").get_to(entry.reason);
  line.at("median_ns").get_to(entry.median_ns);
  line.at("samples_ns").get_to(entry.samples_ns);
  line.at("search_ns").get_to(entry.search_ns);
  line.at("total_ns").get_to(entry.total_ns);
  line.at("source").get_to(entry.source);
  line.at("driver").get_to(entry.driver);
  line.at("toolkit").get_to(entry.toolkit);
  line.at("timestamp").get_to(entry.timestamp);
  return entry;
}

void check_header(const std::string& path, const std::string& line, const TuningTarget& target) {
  const auto found = ordered_json::parse(line, nullptr, false);
  if (!found.is_object() || !found.contains("fusebench_tuning_log")) {
    throw Error("{} is no tuning log; choose another file for --log", path);
  }
  const ordered_json wanted = header_of(target);
  for (const auto& [key, value] : wanted.items()) {
    if (found.contains(key) && found[key] == value) continue;
    throw Error(
        "{} is a tuning log of {} {}, and this search is of {}; choose another file for --log",
        path, key, found.contains(key) ? found[key].dump() : "nothing", value.dump());
  }
}

}  // namespace

TuningLog::TuningLog(const std::string& path, const TuningTarget& target)
    : path_(path), file_(nullptr, std::fclose) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path, ignored);
  const std::string text = exists ? read_text_file(path) : "";
  const std::size_t last = text.rfind('\n');
  const std::size_t whole = last == std::string::npos ? 0 : last + 1;
  if (exists && !text.empty() && whole == 0 && text.front() != '{') {
    throw Error("{} is no tuning log; choose another file for --log", path);
  }
  std::size_t number = 1;
  for (std::size_t begin = 0; begin < whole; ++number) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (number == 1) {
      check_header(path, line, target);
      continue;
    }
    try {
      entries_.push_back(entry_of(ordered_json::parse(line)));
    } catch (const ordered_json::exception&) {
      throw Error("{}:{} cannot be read; take the line away or choose another file for --log", path,
                  number);
    }
  }
  // What stands behind the last line end was being written when the search was killed.
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
