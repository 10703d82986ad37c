// Judging an output on the device that it lies on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "harness/core/operator.hpp"
#include "harness/device/device.hpp"
#include "harness/verify/tally.hd.hpp"

namespace fusebench {

/// The operator's oracle as a kernel; counts as compare() does, of which it is tested to be the equal.
class DeviceTally {
 public:
  virtual ~DeviceTally() = default;
  /// `got` holds `count` elements on the device.
  [[nodiscard]] virtual Tally count(const float* got, std::int64_t count,
                                    const OracleArguments& arguments, const AcceptanceRule& rule,
                                    std::uint64_t poison_seed) = 0;
};

/// nullptr where outputs are judged on the host: on a CPU, and for an operator that brings no oracle for
/// a device. The device must outlive it.
[[nodiscard]] std::unique_ptr<DeviceTally> make_device_tally(const Operator& op, Device& device);

/// The kernel for an operator's oracle, for compiling it without a device.
[[nodiscard]] KernelSpec tally_kernel(const std::string& oracle);

}  // namespace fusebench
