#include "harness/record/whole_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "harness/core/error.hpp"

namespace fusebench {

void write_whole_file(const std::string& path, const std::string& text) {
  // A pipe or /dev/stdout cannot be renamed over.
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  const bool special = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  const std::string part = special ? path : path + ".part";
  std::ofstream file(part, std::ios::binary);
  file << text;
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
