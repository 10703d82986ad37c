// How a build is named in records, logs and messages.
#pragma once

#include <string>
#include <utility>

namespace fusebench {

/// "1aff278", or "1aff278, modified" where there were changes that no commit has.
[[nodiscard]] inline std::string revision(std::string git_commit, bool dirty) {
  return std::move(git_commit) + (dirty ? ", modified" : "");
}

}  // namespace fusebench
