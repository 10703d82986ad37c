#include "harness/device/cuda/cudnn/cudnn_library.hpp"

#include <dlfcn.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "harness/core/error.hpp"

#ifndef FUSEBENCH_CUDNN_FOLDER
#define FUSEBENCH_CUDNN_FOLDER ""
#endif

namespace fusebench {
namespace {

constexpr const char* file = "libcudnn.so.9";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The libraries that libcudnn.so.9 opens in its turn lie beside it and find one another by its run path.
void* open() {
  const std::string chosen = environment("FUSEBENCH_CUDNN");
  const std::vector<std::string> candidates = cudnn_candidates(chosen, FUSEBENCH_CUDNN_FOLDER);
  std::string reason;
  for (const std::string& candidate : candidates) {
    if (void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_GLOBAL)) return handle;
    const char* said = dlerror();
    if (said != nullptr && reason.empty()) reason = said;
  }
  if (!chosen.empty()) {
    throw Unavailable("FUSEBENCH_CUDNN={} cannot be loaded ({}): give the path of a {}", chosen,
                      reason, file);
  }
  throw Unavailable("cuDNN 9 was not found on this machine (looked for {}): install it, or set "
                    "FUSEBENCH_CUDNN to "
                    "the path of a {}",
                    fmt::join(candidates, ", "), file);
}

}  // namespace

std::vector<std::string> cudnn_candidates(std::string_view chosen, std::string_view known_folder) {
  if (!chosen.empty()) return {std::string(chosen)};
  std::vector<std::string> candidates = {file};
  if (!known_folder.empty()) candidates.push_back(fmt::format("{}/{}", known_folder, file));
  return candidates;
}

void* cudnn_library() {
  static void* const handle = open();  // tried again after a throw
  return handle;
}

}  // namespace fusebench
