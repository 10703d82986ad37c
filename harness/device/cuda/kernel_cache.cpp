#include "harness/device/cuda/kernel_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "harness/core/generator.hd.hpp"
#include "harness/device/cuda/compiler.hpp"

namespace fusebench {
namespace {

// An entry is "<bytes of log> <bytes of cubin> <hash of both>\n", the log, the cubin.
std::string header_of(const KernelCache::Entry& entry) {
  return fmt::format("{} {} {}\n", entry.log.size(), entry.cubin.size(),
                     hash_of({entry.log, entry.cubin}));
}

}  // namespace

std::string hash_of(const std::vector<std::string_view>& parts) {
  std::uint64_t low = 1;
  std::uint64_t high = 2;
  const auto absorb = [&](std::uint64_t value) {
    low = mix(low ^ value);
    high = mix(high + value * 0xD1B54A32D192ED03U);
  };
  for (const std::string_view part : parts) {
    absorb(part.size());
    for (const char c : part) absorb(static_cast<unsigned char>(c));
  }
  return fmt::format("{:016x}{:016x}", high, low);
}

std::optional<KernelCache::Entry> KernelCache::find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(folder_ + "/" + key, std::ios::binary);
  std::string header;
  if (!std::getline(file, header)) return std::nullopt;
  const std::string rest((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t log_bytes = std::strtoull(header.c_str(), nullptr, 10);
  if (log_bytes > rest.size()) return std::nullopt;
  Entry entry{rest.substr(0, log_bytes), rest.substr(log_bytes)};
  if (header_of(entry) != header + "\n") return std::nullopt;
  return entry;
}

void KernelCache::keep(const std::string& key, const Entry& entry) const {
  if (folder_.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);
  const std::string path = folder_ + "/" + key;
  const std::string part = fmt::format("{}.{}", path, getpid());
  {
    std::ofstream file(part, std::ios::binary);
    file << header_of(entry) << entry.log << entry.cubin;
    if (!file.flush()) {
      std::filesystem::remove(part, ignored);
      return;
    }
  }
  std::filesystem::rename(part, path, ignored);
}

std::string kernel_cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return std::string(cache) + "/fusebench/kernels";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::string(home) + "/.cache/fusebench/kernels";
  }
  return "";
}

}  // namespace fusebench
