#include "harness/cli/output_files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "harness/core/error.hpp"
#include "harness/record/csv_writer.hpp"
#include "harness/record/whole_file.hpp"

namespace fusebench {
namespace {

namespace fs = std::filesystem;

bool are_one_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  // Absolute first: of a relative name of which nothing exists no more is known.
  const auto full = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  };
  return full(a) == full(b) || fs::equivalent(a, b, ignored);
}

void check_place(const std::string& path) {
  std::error_code ignored;
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored)) {
    throw Error("cannot write {}: there is no folder {}; make it first", path, folder.string());
  }
  if (fs::is_directory(path, ignored)) throw Error("cannot write {}: it is a folder", path);
}

}  // namespace

void check_output_files(std::span<const OutputFile> outputs, std::span<const std::string> inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [option, path] = outputs[i];
    if (path.empty()) continue;
    for (const OutputFile& other : outputs.first(i)) {
      if (other.path.empty() || !are_one_file(other.path, path)) continue;
      throw Error("{} and {} both name {}; give them different files", other.option, option, path);
    }
    for (const std::string& input : inputs) {
      if (!are_one_file(path, input)) continue;
      throw Error("{} would replace {}, which is read; write to another file", option, input);
    }
    check_place(path);
  }
}

std::string missing_parent(const std::string& folder) {
  std::error_code ignored;
  const fs::path parent = (fs::path(folder) / "").parent_path().parent_path();
  return parent.empty() || fs::is_directory(parent, ignored) ? "" : parent.string();
}

void require_writable(const std::string& path) {
  const std::optional<std::string> target = replaceable(path);
  const std::string part = target ? *target + ".part" : path;
  if (!std::ofstream(part, std::ios::binary | std::ios::app)) {
    throw Error("cannot write {}: {}", path, std::strerror(errno));
  }
  std::error_code ignored;
  if (target) fs::remove(part, ignored);
}

std::vector<OutputFile> results_files(const std::string& csv) {
  if (csv.empty()) return {};
  if (!replaceable(csv)) {
    throw Error("cannot write {}: it is no regular file, and the samples go beside it", csv);
  }
  return {{"--csv", csv}, {"--csv, with its samples,", samples_path(csv)}};
}

}  // namespace fusebench
