// A comparison for people (a table) and for programs (CSV, JSON), and the exit code it means.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "harness/compare/comparison.hpp"

namespace fusebench {

/// --floor, --csv and --json of `compare` and `ab`.
struct ComparisonOptions {
  void add_to(CLI::App& app);
  [[nodiscard]] CompareRules rules() const;
  /// Throws Error when an output cannot be written, or would replace one of `inputs` or the other output.
  void check_outputs(const std::vector<std::string>& inputs) const;

  std::string floor = "0.5%";
  std::string csv;
  std::string json;
};

/// Prints the table, writes the files, and gives the exit code: 1 when something regressed, 0 when anything has a
/// verdict, else 2 with a line that says why there is none. `before` and `after` name the two sides.
[[nodiscard]] int report(const Comparison& comparison, const std::string& before,
                         const std::string& after, const ComparisonOptions& options);

}  // namespace fusebench
