// A variant: one implementation of an operator on one kind of device, and the plan it makes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/device_traits.hpp"
#include "harness/core/kernel.hpp"
#include "harness/core/operator.hpp"
#include "harness/core/outcome.hpp"
#include "harness/core/parameters.hpp"

namespace fusebench {

class Device;

/// Addresses of an operator's tensors, in the order of Operator::tensors, on the plan's device.
class TensorTable {
 public:
  explicit TensorTable(std::vector<void*> addresses) : addresses_(std::move(addresses)) {}
  [[nodiscard]] const float* input(std::size_t index) const {
    return static_cast<const float*>(addresses_.at(index));
  }
  [[nodiscard]] float* output() const { return static_cast<float*>(addresses_.back()); }

 private:
  std::vector<void*> addresses_;
};

/// A variant prepared for a problem and a configuration. enqueue() is what is timed: on a CPU the
/// work is done when it returns, on a GPU it has been put on the device's current stream.
class Plan {
 public:
  virtual ~Plan() = default;
  /// Throws Error when the launch is refused, e.g. for an alignment the variant does not handle.
  virtual void enqueue(const TensorTable& tensors) = 0;
  /// What a person should know of how it was made, in one line: which engine a library chose, with its
  /// version and workspace. Stands in the record's column `plan`; empty when there is nothing to say.
  [[nodiscard]] virtual std::string description() const { return ""; }
};

/// A plan whose enqueue() calls `body`.
[[nodiscard]] std::unique_ptr<Plan> make_plan(std::function<void(const TensorTable&)> body);

/// May, or must, the output be the first input's memory, which the call then overwrites?
enum class InPlace {
  no,    ///< never called so
  also,  ///< right either way: timed with an output of its own, verified in place as well
  only,  ///< called in no other way: every case and every timed call is in place
};
[[nodiscard]] std::string_view to_string(InPlace in_place) noexcept;

struct VariantInfo {
  std::string operator_name;
  std::string name;  ///< "<device>_<idea>"
  std::string idea;  ///< one line: what this variant measures
  DeviceKind device = DeviceKind::cpu;
  Precision precision = Precision::float32;
  ParameterSpace parameters;
  InPlace in_place = InPlace::no;
  bool baseline = false;  ///< the unfused one that speed-ups are counted from, one for each device
};

class Variant {
 public:
  virtual ~Variant() = default;

  [[nodiscard]] virtual const VariantInfo& info() const = 0;
  /// Why it cannot run on such a device or in this build; nullopt when it can.
  [[nodiscard]] virtual std::optional<std::string> unavailable(
      const DeviceTraits& device) const = 0;
  /// Why it does not do a problem, on whatever device: "needs stride 2, not 1"; nullopt when it does.
  /// prepare() is never called for one that it refuses.
  [[nodiscard]] virtual std::optional<std::string> refuses(const Problem&) const {
    return std::nullopt;
  }
  /// Why its kernels cannot be compiled for an architecture; nullopt when they can.
  [[nodiscard]] virtual std::optional<std::string> unsupported(const Architecture&) const {
    return std::nullopt;
  }
  /// The kernels that a configuration compiles for a problem that it does not refuse, or for the official one; none on a
  /// CPU. Their sources are the same for every problem.
  [[nodiscard]] virtual std::vector<KernelSpec> kernels(const Problem&,
                                                        const Configuration&) const {
    return {};
  }
  /// The library whose own offers its parameters count, such as cuDNN's plans, with its version: "cuDNN 9.19.0". Empty where
  /// there is none. Only of a variant that is available.
  [[nodiscard]] virtual std::string library() const { return ""; }
  /// Compiles kernels and makes workspace. Throws Unavailable when the device cannot run this
  /// configuration, Error when something broke.
  [[nodiscard]] virtual std::unique_ptr<Plan> prepare(const Problem& problem,
                                                      const Configuration& configuration,
                                                      Device& device) const = 0;
};

/// What decides, beside sources, options and driver, whether a time of a configuration still holds: "NVRTC 13.0", or
/// "NVRTC 13.0, cuDNN 9.19.0". Of a variant that is available on the device.
[[nodiscard]] inline std::string toolkit_of(const Variant& variant, const DeviceTraits& device) {
  const std::string library = variant.library();
  return library.empty() ? device.toolkit : device.toolkit + ", " + library;
}

}  // namespace fusebench
