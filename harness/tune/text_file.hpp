// Whole files as text, gzipped or not; the JSON in them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace fusebench {

/// Whether a file that can be read begins as a gzipped one does.
[[nodiscard]] bool is_gzipped(const std::string& path);

/// The file's text, unpacked where it is gzipped, whatever its name. Throws Error when it cannot be read, is
/// torn, or is gzipped in a build without zlib.
[[nodiscard]] std::string read_text_file(const std::string& path);

/// Throws Error, naming the path and the place, where the text is no JSON. `Json` is nlohmann::json or
/// ordered_json.
template <typename Json>
[[nodiscard]] Json parse_json(const std::string& path, std::string_view text);

}  // namespace fusebench
