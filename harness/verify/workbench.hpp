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
#include "harness/verify/acceptance.hpp"
#include "harness/verify/comparison.hpp"
#include "harness/verify/device_tally.hpp"
#include "harness/verify/placement.hpp"

namespace fusebench {

/// Throws Unavailable, naming `what`, what it needs and what there is, when `bytes` are more than half of the
/// device's memory: half is left for workspace, for the judge where it shares the memory, and for the system.
void require_memory(const std::string& what, std::int64_t bytes, const DeviceTraits& traits);

/// A tensor as a candidate is handed it.
struct TensorView {
  std::string name;
  Region* region = nullptr;  ///< the same region twice where tensors share memory
  std::size_t offset = 0;    ///< bytes from the region's beginning
  std::size_t bytes = 0;     ///< of the tensor
  bool writable = false;
};

/// The addresses of `views` in this process.
[[nodiscard]] TensorTable addresses_of(const std::vector<TensorView>& views);

/// The recipes of Operator::tensors under the name "official".
[[nodiscard]] InputSet official_inputs(const Operator& op, const Problem& problem);

class Workbench {
 public:
  /// Throws Unavailable when the problem does not fit in memory, Error when it is to be in place and the
  /// output has another size than the first input. `op` and `device` outlive the bench.
  Workbench(const Operator& op, const Problem& problem, InputSet inputs, const Placement& placement,
            std::uint64_t seed, Device& device);
  /// Official inputs, aligned.
  Workbench(const Operator& op, const Problem& problem, std::uint64_t seed, Device& device)
      : Workbench(op, problem, official_inputs(op, problem), {}, seed, device) {}

  [[nodiscard]] std::vector<TensorView> views() const;
  [[nodiscard]] TensorTable tensors() const { return addresses_of(views()); }
  [[nodiscard]] const TensorSpec& output_spec() const noexcept { return specs_.back(); }
  /// Is the output the first input's memory? Each prepare() then writes that input anew, which takes the
  /// place of poison, and tampering() looks at the other inputs only.
  [[nodiscard]] bool in_place() const noexcept { return in_place_; }
  [[nodiscard]] std::size_t inputs() const noexcept { return placed_.size() - (in_place_ ? 0 : 1); }

  /// New contents at the same addresses: of all inputs, of one.
  void renew(std::uint64_t seed);
  void renew(std::size_t input, std::uint64_t seed);
  /// Fills all strips beside the tensors anew, in another pattern.
  void rearm();

  /// Before a call: writes inputs anew when they were changed, poisons the output with a new seed.
  /// Without `watch_inputs` tampering() will not look at them.
  void prepare(bool watch_inputs = true);
  /// After a call: why the inputs or the strips are not as prepare() left them; nullopt when they are.
  [[nodiscard]] std::optional<std::string> tampering();
  [[nodiscard]] std::uint64_t output_fingerprint();
  /// Counts every output element against the oracle, on the device where the operator can.
  [[nodiscard]] Tally tally_output(const AcceptanceRule& rule);
  /// The same on the host, with the mismatches.
  [[nodiscard]] Comparison compare_output(const AcceptanceRule& rule);

 private:
  [[nodiscard]] const PlacedTensor& output() const {
    return in_place_ ? placed_.front() : placed_.back();
  }
  [[nodiscard]] std::int64_t count(std::size_t tensor) const {
    return element_count(specs_[tensor].shape);
  }
  void write_input(std::size_t input);
  [[nodiscard]] std::vector<std::uint64_t> input_fingerprints();
  const std::vector<float>& host_input(std::size_t input);
  [[nodiscard]] OracleArguments oracle_arguments() const;

  const Operator* op_;
  Problem problem_;
  Device* device_;
  InputSet inputs_;
  bool in_place_;
  bool on_host_;  // the device reads host memory, so the judge's inputs are made first and copied
  std::uint64_t poison_seed_;
  std::vector<TensorSpec> specs_;
  std::vector<PlacedTensor> placed_;
  std::vector<std::uint64_t> streams_;           // of each input, now
  std::vector<std::vector<float>> host_inputs_;  // empty until needed
  std::vector<Buffer> own_inputs_;  // on the device, for an oracle that reads them; else empty
  std::vector<std::uint64_t> fingerprints_;  // empty while not watched
  std::vector<bool> fresh_;                  // inputs that no call has seen since renew()
  bool strips_whole_ = false;                // seen so after the last call
  std::unique_ptr<DeviceTally> tally_;
};

}  // namespace fusebench
