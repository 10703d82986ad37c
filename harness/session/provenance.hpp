// Which program, when, in which run.
#pragma once

#include <cstdint>
#include <string>

namespace fusebench {

struct Provenance {
  std::string run_id;       ///< unique to this run: UTC time and random digits
  std::string git_commit;   ///< of the sources this was built from; "unknown" outside git
  bool dirty = false;       ///< they had uncommitted changes, or kernels came from elsewhere
  std::string build_flags;  ///< of the C++ compiler, as the build was configured
};

/// `kernel_folder` is where kernels are read from, empty where they are those built in: what a folder holds no commit
/// vouches for.
[[nodiscard]] Provenance current_provenance(const std::string& kernel_folder);

/// "2026-11-29T15:04:05Z"
[[nodiscard]] std::string utc_timestamp();

/// From the operating system's entropy; below 2^32 so that it is easy to type.
[[nodiscard]] std::uint64_t fresh_seed();

}  // namespace fusebench
