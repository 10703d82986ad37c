// A problem laid out on a device: its tensors between red zones, and the judge's own inputs and oracle.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/operator.hpp"
#include "harness/core/variant.hpp"
#include "harness/device/device.hpp"
#include "harness/verify/comparison.hpp"
#include "harness/verify/red_zones.hpp"

namespace fusebench {

/// Throws Unavailable, naming `what`, when `bytes` are more than half of the device's memory: half is left for
/// workspace, for the judge where it shares the memory, and for the system.
void require_memory(const std::string& what, std::int64_t bytes, const DeviceTraits& traits);

/// Reused by all variants that run on one problem; prepare() makes it fresh for each call.
class Workbench {
 public:
  /// Throws Unavailable when the problem does not fit in memory. All arguments outlive the bench.
  Workbench(const Operator& op, const Problem& problem, std::uint64_t seed, Device& device);

  [[nodiscard]] const TensorTable& tensors() const noexcept { return table_; }
  [[nodiscard]] const TensorSpec& output_spec() const noexcept { return specs_.back(); }

  /// Writes inputs anew when they were changed, poisons the output with a new seed, arms the zones.
  void prepare();
  /// Why the inputs or the red zones are not as prepare() left them; nullopt when they are.
  [[nodiscard]] std::optional<std::string> tampering();
  /// Compares the output with the oracle. Call after the device was synchronised.
  [[nodiscard]] Comparison compare_output(Precision precision);

 private:
  const Operator* op_;
  Device* device_;
  std::uint64_t seed_;
  std::uint64_t poison_seed_;
  std::vector<TensorSpec> specs_;
  std::vector<GuardedBuffer> buffers_;
  std::vector<std::vector<float>> host_inputs_;
  std::vector<std::uint64_t> fingerprints_;
  std::unique_ptr<Oracle> oracle_;
  TensorTable table_{{}};
};

}  // namespace fusebench
