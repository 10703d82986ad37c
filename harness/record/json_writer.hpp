// The run as one JSON document: machine, command line, records and notes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/core/device_traits.hpp"
#include "harness/core/record.hpp"

namespace fusebench {

struct RunDocument {
  std::vector<std::string> command_line;
  std::string working_directory;
  std::string host;
  std::vector<DeviceTraits> devices;
  std::vector<Record> records;
  std::vector<std::string> notes;
  bool complete = false;  ///< false while the run goes on, and for ever if it was stopped
};

/// Writes the document beside `path` and renames it over, so that a reader, or a kill, never finds half
/// of one. Throws Error naming the file when it cannot be written.
void write_json(const std::string& path, const RunDocument& document);

/// Any document in the same way.
void write_document(const std::string& path, const nlohmann::json& document);

}  // namespace fusebench
