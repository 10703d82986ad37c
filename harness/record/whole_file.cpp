#include "harness/record/whole_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

namespace fs = std::filesystem;

bool is_the_systems(const fs::path& path) {
  std::error_code ignored;
  const std::string full = fs::absolute(path, ignored).lexically_normal().string();
  return full.starts_with("/dev/") || full.starts_with("/proc/");
}

}  // namespace

std::optional<std::string> replaceable(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) return std::nullopt;
  if (is_the_systems(path)) return std::nullopt;
  fs::path target = path;
  // Link by link: at /proc/self/fd/1 the last one would be the file that is standard output.
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, ignored)) && links < 40; ++links) {
    target = target.parent_path() / fs::read_symlink(target, ignored);
    if (is_the_systems(target)) return std::nullopt;
  }
  if (fs::is_symlink(fs::symlink_status(target, ignored))) return std::nullopt;  // a circle
  return target.string();
}

void write_whole_file(const std::string& path, const std::string& text) {
  const std::optional<std::string> target = replaceable(path);
  const std::string part = target ? *target + ".part" : path;
  std::ofstream file(part, std::ios::binary);
  file << text;
  file.close();
  std::error_code error;
  if (!file) {
    const int reason = errno;
    if (target) fs::remove(part, error);
    throw Error("cannot write {}: {}", path, std::strerror(reason));
  }
  if (target) fs::rename(part, *target, error);
  if (error) throw Error("cannot write {}: {}", path, error.message());
}

}  // namespace fusebench
