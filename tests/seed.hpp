// The seed of a randomised test: fixed unless FUSEBENCH_TEST_SEED says otherwise, and always printed.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

namespace fusebench::test {

inline std::uint64_t seed() {
  const char* given = std::getenv("FUSEBENCH_TEST_SEED");
  const std::uint64_t value = given == nullptr ? 20261129 : std::stoull(given);
  std::cout << "seed " << value << " (FUSEBENCH_TEST_SEED changes it)\n";
  return value;
}

}  // namespace fusebench::test
