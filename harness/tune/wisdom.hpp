// Wisdom: the best configuration that a search has found for a variant, a device and a problem, and which of
// several to use where none fits exactly.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/device_traits.hpp"
#include "harness/core/variant.hpp"

namespace fusebench {

struct Wisdom {
  std::string operator_name;
  std::string variant;
  std::string device;        ///< cpu or cuda
  std::string device_name;   ///< "NVIDIA H200"
  std::string architecture;  ///< "sm_90a"; empty on a CPU
  std::string problem;       ///< as Problem::to_string gives it
  std::string configuration;
  double median_ns = 0.0;          ///< of the configuration
  double default_over_best = 0.0;  ///< paired ratio of the times; 0 where the default did not pass
  std::vector<std::string> ties;   ///< configurations that could not be told from it
  std::size_t measured = 0;        ///< configurations that the search measured
  std::size_t space = 0;           ///< of how many
  std::string source;              ///< hash of the variant's sources
  std::string driver;
  std::string toolkit;
  std::string git_commit;
  std::string timestamp;
};

/// One JSON document, ending in a newline, and back. Throws Error, naming `path` and the member, for a text that is none.
[[nodiscard]] std::string wisdom_text(const Wisdom& wisdom);
[[nodiscard]] Wisdom parse_wisdom(const std::string& path, const std::string& text);

/// The file's name for a (variant, device, problem): letters, digits, dots, dashes and underscores only.
[[nodiscard]] std::string wisdom_file_name(const Wisdom& wisdom);

/// What a folder holds.
struct WisdomFolder {
  std::vector<Wisdom> known;
  std::vector<std::string>
      unreadable;  ///< a line for each file that is no wisdom: which, why, the mend
};

/// Every *.json of a folder, by name; none where there is no such folder. One file that is broken, or another program's, does
/// not hide the others. Throws Error for a folder that cannot be read.
[[nodiscard]] WisdomFolder read_wisdom(const std::string& folder);

/// What is the best for a variant: "default" and why where nothing matches.
struct WisdomMatch {
  std::string configuration = "default";
  /// "exact", "other problem: ...", "other device of sm_90a: ...", each with what has changed since then: ", of other sources
  /// of the variant", ", of another toolkit: ...", ", of another driver: ..."; or "default: ...".
  std::string told;
};

/// In this order: the same device name and problem; the same device name and the nearest other problem, by the sum of |log| of
/// the ratios of their sizes; another device of the same architecture, for the same problem or the nearest; the default. Of those
/// equally near what was found with the same `source` (source_hash), then the first. Wisdom whose configuration is not valid for the variant, with these properties, is passed over.
[[nodiscard]] WisdomMatch match_wisdom(const std::vector<Wisdom>& all, const VariantInfo& variant,
                                       const std::string& problem,
                                       const std::optional<DeviceTraits>& device,
                                       const Properties& properties, const std::string& source);

}  // namespace fusebench
