#include "harness/device/cpu/cpu_info.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <string>

#include "harness/device/cpu/cpu_region.hpp"
#include "harness/device/cpu/thread_pool.hpp"

namespace fusebench {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string model_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) {
      const std::size_t colon = line.find(": ");
      if (colon != std::string::npos) return line.substr(colon + 2);
    }
  }
  utsname system{};
  return uname(&system) == 0 ? system.machine : "unknown CPU";
}

// All last-level caches of the usable cores together: a thread elsewhere may still hold the data.
std::int64_t last_level_cache_bytes() {
  std::set<std::string> domains;
  std::int64_t bytes = 0;
  for (const int core : usable_cores()) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index3/", core);
    const std::string size = first_line(folder + "size");  // "32768K"
    if (size.empty() || !domains.insert(first_line(folder + "shared_cpu_list")).second) continue;
    bytes += std::stoll(size) * 1024;
  }
  if (bytes > 0) return bytes;
  const long reported = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return reported > 0 ? reported : std::int64_t{32} << 20;
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown compiler";
#endif
}

}  // namespace

DeviceTraits read_cpu_traits() {
  DeviceTraits traits;
  traits.kind = DeviceKind::cpu;
  traits.name = model_name();
  utsname system{};
  if (uname(&system) == 0) traits.driver = fmt::format("{} {}", system.sysname, system.release);
  traits.toolkit = compiler();
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  traits.clock_policy = governor.empty() ? "unknown" : governor;
  traits.processors = static_cast<int>(usable_cores().size());
  traits.cache_bytes = last_level_cache_bytes();
  traits.memory_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
  traits.sharing_refused = cpu_sharing_refused();
  return traits;
}

}  // namespace fusebench
