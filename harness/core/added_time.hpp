// Adds the time that a scope takes to a sum, however the scope is left.
#pragma once

#include <chrono>

namespace fusebench {

class AddedTime {
 public:
  /// `sum_ns` outlives it.
  explicit AddedTime(double& sum_ns) : sum_ns_(&sum_ns) {}
  AddedTime(const AddedTime&) = delete;
  AddedTime& operator=(const AddedTime&) = delete;
  ~AddedTime() {
    *sum_ns_ += std::chrono::duration<double, std::nano>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  double* sum_ns_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace fusebench
