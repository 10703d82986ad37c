// What a mutant and an honest oddity say of themselves, which tests/mutants_test.py reads.
#pragma once

#include <fmt/format.h>

#include <string>

namespace fusebench {

/// `catalogue` is the class in docs/verification.md; `outcome`, and a reason in which the regular
/// expression `reason` is found, are what the verifier must answer.
inline std::string must_be(int catalogue, const std::string& outcome, const std::string& reason) {
  return fmt::format("[class {}] {}: {}", catalogue, outcome, reason);
}

inline std::string honest(const std::string& idea) { return "[honest] " + idea; }

}  // namespace fusebench
