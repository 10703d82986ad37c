#include "harness/session/provenance.hpp"

#include <fmt/chrono.h>

#include <ctime>
#include <random>

#include "fusebench_git_version.hpp"  // written by the build

namespace fusebench {

std::string utc_timestamp() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::uint64_t fresh_seed() { return std::random_device{}(); }

Provenance current_provenance(const std::string& kernel_folder) {
  return {fmt::format("{:%Y%m%dT%H%M%S}-{:08x}", fmt::gmtime(std::time(nullptr)),
                      static_cast<std::uint32_t>(std::random_device{}())),
          git_version_commit, git_version_dirty || !kernel_folder.empty(), FUSEBENCH_BUILD_FLAGS};
}

}  // namespace fusebench
