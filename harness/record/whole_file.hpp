// A file written whole or not at all.
#pragma once

#include <string>

namespace fusebench {

/// Writes into a file beside it that then takes its name, so that a failed write loses nothing; a pipe or a device
/// such as /dev/stdout is written itself. Throws Error with the path and the system's reason.
void write_whole_file(const std::string& path, const std::string& text);

}  // namespace fusebench
