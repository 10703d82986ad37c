// The formats of recorded spaces, one function each.
#pragma once

#include <string>
#include <vector>

#include "harness/tune/recorded_space.hpp"

namespace fusebench {

/// Both throw Error, which may leave the path out.
[[nodiscard]] RecordedSpace read_kernel_tuner(const std::string& path, const std::string& text);
[[nodiscard]] RecordedSpace read_t4(const std::string& path, const std::string& text);

[[nodiscard]] std::vector<NamedSpace> read_log_spaces(const std::string& path,
                                                      const std::string& text,
                                                      const std::string& filter);

/// A configuration on its way into a space.
struct RecordedRow {
  std::vector<SearchSpace::Place> row;
  Observation observation;
};

/// Throws Error when two rows are the same, or none passed.
[[nodiscard]] RecordedSpace assemble(std::string kernel, std::string device,
                                     std::vector<SpaceParameter> parameters,
                                     std::vector<RecordedRow> rows);

/// The place of a configuration's value. Throws Error, naming the parameter and the value, where it has none.
[[nodiscard]] SearchSpace::Place require_place(const SpaceParameter& parameter, const Value& value);

}  // namespace fusebench
