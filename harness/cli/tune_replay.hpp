// Strategies on recorded spaces: the scores, and the curves as CSV.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fusebench {

struct ReplayOptions {
  std::vector<std::string> files;
  std::string filter;    ///< on the variants of a tuning log; empty: all of them
  std::string strategy;  ///< a name or "all"
  std::string budget;    ///< empty: the methodology's
  std::size_t repeats = 100;
  std::uint64_t seed = 1;
  double cutoff = 0.95;
  std::string csv;
};

/// Says on standard error that a recorded space may be a part only.
void tell_unclosed(const std::string& name);

/// Prints a table for each file and, of several, their mean; returns the exit code.
int replay_and_score(const ReplayOptions& options);

}  // namespace fusebench
