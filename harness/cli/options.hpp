// The options that subcommands share, and what they mean together.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/session/session.hpp"

namespace fusebench {

/// Exit codes of every subcommand.
enum ExitCode : int { as_hoped = 0, negative_verdict = 1, no_verdict = 2 };

/// Refuses what is no number above 0; what is no whole number that fits 64 bits.
[[nodiscard]] CLI::Validator more_than_zero();
[[nodiscard]] CLI::Validator whole_64_bits();

/// What a folder knows; a file in it that is no wisdom is left out with a line on standard error. Throws Error for a folder that
/// cannot be read.
[[nodiscard]] std::vector<Wisdom> known_wisdom(const std::string& folder);

/// --operator, --filter, --device, --kernels
struct SelectionOptions {
  void add_to(CLI::App& app);
  [[nodiscard]] Selection selection() const;

  std::string operator_name;
  std::string filter;
  std::string device = "all";
  std::string problem;
  std::string configuration = "default";
  std::string wisdom = "results/wisdom";  ///< the folder that configuration "wisdom" reads
  std::string kernel_folder;
};

/// --problem, --configuration, --wisdom, --battery, --judge, --seed, --timeout, --pin, --csv, --json, --quiet, --every,
/// --with, --replicas and the sampler's.
struct RunOptions : SelectionOptions {
  void add_to(CLI::App& app, bool measures);
  [[nodiscard]] SessionOptions session() const;
  [[nodiscard]] std::uint64_t seed() const;

  std::optional<std::uint64_t> given_seed;
  std::string battery = "quick";
  std::string judge = "parent";
  double timeout_seconds = 120.0;
  bool pin = false;
  bool quiet = false;
  std::string csv;
  std::string json;
  bool every = false;
  std::vector<std::string> with;  ///< files of peers
  int replicas = 1;
  SamplingLimits limits;

 private:
  mutable std::optional<std::uint64_t> drawn_seed_;  // one draw for a whole command
};

}  // namespace fusebench
