// The phases a variant goes through, and whoever wants to hear of them.
#pragma once

#include <string>
#include <string_view>

#include "harness/core/outcome.hpp"

namespace fusebench {

enum class Phase { prepare, verify, warmup, measure };

[[nodiscard]] constexpr std::string_view to_string(Phase phase) noexcept {
  switch (phase) {
    case Phase::prepare: return "prepare";
    case Phase::verify: return "verify";
    case Phase::warmup: return "warmup";
    case Phase::measure: break;
  }
  return "measure";
}

/// Hears where a variant is. At most one phase is open at a time; none of what it is told may come between the two
/// readings of a clock.
class PhaseListener {
 public:
  virtual ~PhaseListener() = default;
  /// Ends the phase that is open, if any, and begins another; the same one again changes nothing. `key` is
  /// variant_key()'s.
  virtual void enter(Phase phase, const std::string& key) = 0;
  /// Ends the phase that is open, if any.
  virtual void leave() = 0;
  /// Ends the phase that is open and says what became of the variant. `ns` is its time for a call; 0 where it has none.
  virtual void conclude(const std::string& key, Outcome outcome, double ns) = 0;
};

}  // namespace fusebench
