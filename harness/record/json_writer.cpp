#include "harness/record/json_writer.hpp"

#include <nlohmann/json.hpp>

#include "harness/record/whole_file.hpp"

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
  write_document(path, json);
}

void write_document(const std::string& path, const nlohmann::json& document) {
  // A name or message from the system need not be UTF-8; replace rather than refuse.
  write_whole_file(path,
                   document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace fusebench
