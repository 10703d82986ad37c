// A comparison for people (a table) and for programs (CSV, JSON), and the exit code it means.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/output_files.hpp"
#include "harness/compare/comparison.hpp"

namespace fusebench {

/// --floor, --csv and --json of `compare` and `ab`.
struct ComparisonOptions {
  void add_to(CLI::App& app);
  [[nodiscard]] CompareRules rules() const;
  /// check_output_files() of both and of `others`.
  void check_outputs(const std::vector<std::string>& inputs,
                     const std::vector<OutputFile>& others = {}) const;

  std::string floor = "0.5%";
  std::string csv;
  std::string json;
};

/// What was compared, for the document.
struct ComparedSides {
  std::string before, after;  ///< files or programs
  std::optional<std::uint64_t> seed = {};
};

/// Prints the table, writes the files, and gives the exit code: 1 when something regressed, 0 when decided(), else 2 with
/// a line that says why there is no verdict. The controls have a table and words of their own, so that no regression
/// is to be read where none is counted.
[[nodiscard]] int report(const Comparison& comparison, const ComparedSides& sides,
                         const ComparisonOptions& options);

}  // namespace fusebench
