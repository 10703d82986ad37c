// Searches the configurations of registered variants: each is verified, then timed, by the session's workers.
#pragma once

#include <string>

#include "harness/cli/options.hpp"

namespace fusebench {

struct LiveOptions {
  RunOptions run;
  std::string strategy;
  std::string budget;  ///< empty: a tenth of a variant's space, and at least 32 configurations
  std::string log;
};

/// Prints the best of each variant; returns the exit code. Throws Error when nothing can run.
int tune_variants(const LiveOptions& options);

}  // namespace fusebench
