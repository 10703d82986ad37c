// Where cuDNN is on this machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fusebench {

/// What to hand to dlopen, in order. `chosen`, from the environment's FUSEBENCH_CUDNN, is the path of a
/// libcudnn.so.9, and then there is no other; else the loader's own search comes before `known_folder`, which
/// the build found and which may be empty.
[[nodiscard]] std::vector<std::string> cudnn_candidates(std::string_view chosen,
                                                        std::string_view known_folder);

/// The handle that dlopen gave, opened on first use and never closed. Throws Unavailable, every time, saying
/// where it looked and how to point at one.
[[nodiscard]] void* cudnn_library();

}  // namespace fusebench
