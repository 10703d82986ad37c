// A search strategy: asked for the next configuration, told what became of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/tune/search_space.hpp"

namespace fusebench {

struct StrategyOptions {
  std::uint64_t seed = 0;
  /// About how many configurations will be asked for; 0 where that is not known. Schedules follow it, and
  /// nothing ends with it.
  std::size_t budget = 0;
};

/// Proposes each valid configuration at most once. The same space, options and answers give the same
/// proposals. Every ask() that gave an index is followed by the tell() for it, or by further ask()s, whose
/// tell()s may come in any order.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// The configuration to measure next; nothing when all have been proposed.
  [[nodiscard]] virtual std::optional<std::size_t> ask() = 0;
  /// What became of a configuration, whether or not it was asked for: its time, above 0, or nothing where it
  /// failed.
  virtual void tell(std::size_t index, std::optional<double> time_ns) = 0;
};

struct StrategyInfo {
  const char* name;
  const char* idea;    ///< one line
  bool learns = true;  ///< what it proposes depends on what it was told
};

/// Those there are, in the order in which they are listed; the default first.
[[nodiscard]] const std::vector<StrategyInfo>& strategies();
[[nodiscard]] inline const char* default_strategy() { return strategies().front().name; }

/// The space outlives the strategy. Throws Error for an unknown name, listing those there are.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(std::string_view name,
                                                      const SearchSpace& space,
                                                      const StrategyOptions& options);

}  // namespace fusebench
