// Which options of tune belong to which of its four uses: one that would do nothing is refused.
#pragma once

#include <CLI/CLI.hpp>

namespace fusebench {

/// Throws Error naming the option and the mend: two of --space, --replay and --import are given; an option does nothing in
/// the one that is given, or, with none of them, in a search on a device.
void check_tune_options(const CLI::App& tune);

}  // namespace fusebench
