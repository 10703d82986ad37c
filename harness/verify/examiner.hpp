// Puts a candidate through a case and says whether what it did was right.
#pragma once

#include <cstdint>
#include <string>

#include "harness/verify/battery.hpp"
#include "harness/verify/candidate.hpp"
#include "harness/verify/workbench.hpp"

namespace fusebench {

struct Verdict {
  bool right = true;
  std::string reason;  ///< empty when right
  Tally tally;         ///< of the last output that was looked at
};

/// The verdict on what the last call left, strips and inputs included.
[[nodiscard]] Verdict judge_output(Workbench& bench, const AcceptanceRule& rule);

/// One call of what the candidate has prepared for `bench`: poison, call, look at once, wait for
/// everything, look again, compare every element, look for tampering. Throws what the candidate throws.
[[nodiscard]] Verdict verify_once(Candidate& candidate, Workbench& bench, Device& device,
                                  const AcceptanceRule& rule, bool loaded = false);

/// While the stream that a plan must enqueue on is closed, nothing of a call may reach the output. For a
/// candidate in another process, on a device that has such streams; right elsewhere.
[[nodiscard]] Verdict check_gate(Candidate& candidate, Workbench& bench, Device& device);

/// All calls of one case: twice with the same inputs and other poison, which must give the same bits; once
/// more after each input in turn was changed in place; and for a case with repeats those, and the gate. `request` names the
/// variant; its problem is taken from the case. Throws what the candidate throws.
[[nodiscard]] Verdict examine(const Operator& op, const Case& one, PlanRequest request,
                              const AcceptanceRule& rule, std::uint64_t seed, Device& device,
                              Candidate& candidate);

}  // namespace fusebench
