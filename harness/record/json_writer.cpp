#include "harness/record/json_writer.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

nlohmann::json describe(const DeviceTraits& traits) {
  return {{"kind", to_string(traits.kind)},
          {"name", traits.name},
          {"driver", traits.driver},
          {"toolkit", traits.toolkit},
          {"clock_policy", traits.clock_policy},
          {"processors", traits.processors},
          {"cache_bytes", traits.cache_bytes},
          {"memory_bytes", traits.memory_bytes},
          {"peak_gbps", traits.peak_gbps},
          {"nominal_clock_mhz", traits.nominal_clock_mhz},
          {"architecture", traits.architecture ? traits.architecture->to_string() : ""}};
}

}  // namespace

void write_json(const std::string& path, const RunDocument& document) {
  nlohmann::json json = {{"schema_version", 1},
                         {"complete", document.complete},
                         {"command_line", document.command_line},
                         {"working_directory", document.working_directory},
                         {"host", document.host},
                         {"devices", nlohmann::json::array()},
                         {"notes", document.notes},
                         {"records", document.records}};
  for (const DeviceTraits& traits : document.devices) json["devices"].push_back(describe(traits));

  // A pipe or /dev/stdout cannot be renamed over.
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  const bool special = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  const std::string part = special ? path : path + ".part";
  std::ofstream file(part);
  // A name or message from the system need not be UTF-8; replace rather than refuse.
  file << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  file.close();
  if (!file) {
    const int reason = errno;
    if (!special) std::filesystem::remove(part, error);
    throw Error("cannot write {}: {}", path, std::strerror(reason));
  }
  error.clear();
  if (!special) std::filesystem::rename(part, path, error);
  if (error) throw Error("cannot write {}: {}", path, error.message());
}

}  // namespace fusebench
