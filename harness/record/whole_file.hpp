// A file written whole or not at all.
#pragma once

#include <optional>
#include <string>

namespace fusebench {

/// The path of the file that a new one takes the place of: `path`, or what a symbolic link of that name leads to, so that the link
/// stays. nullopt for what must be written itself: a pipe, a device, and all under /dev and /proc, such as /dev/stdout,
/// though it may lead to a regular file.
[[nodiscard]] std::optional<std::string> replaceable(const std::string& path);

/// Writes into a file beside it that then takes its name, so that a failed write loses nothing; what is not replaceable() is
/// written itself. Throws Error with the path and the system's reason.
void write_whole_file(const std::string& path, const std::string& text);

}  // namespace fusebench
