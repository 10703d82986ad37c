// Searching the configurations of registered variants: each is verified, then timed, by the session's workers.
#pragma once

#include <cstddef>
#include <string>

#include "harness/cli/options.hpp"

namespace fusebench {

struct LiveOptions {
  RunOptions run;
  std::string strategy;
  std::string budget;  ///< empty: a tenth of a variant's space, and at least 32 configurations
  std::string log;
  std::string wisdom;         ///< the folder that keeps the best; empty: none
  bool chose_wisdom = false;  ///< it was named: the folder around it is not made
  std::size_t finalists = 8;  ///< how many of the best are measured again, in turn
  std::size_t compilers =
      0;  ///< processes that compile ahead; 0: as many as there are processors to spare
};

/// Prints the best of each variant; returns the exit code. Throws Error when nothing can run.
int tune_variants(const LiveOptions& options);

}  // namespace fusebench
