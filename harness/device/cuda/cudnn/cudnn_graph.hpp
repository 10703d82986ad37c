// A graph as cuDNN takes it, the plans that it offers for it, and one plan ready to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/device/cuda/cuda_device.hpp"
#include "harness/device/cuda/cudnn/cudnn_description.hpp"

namespace fusebench {

/// Why this build or this machine has no cuDNN; nullopt when it was found. Loads the library, nothing else.
[[nodiscard]] std::optional<std::string> cudnn_missing();

/// What cuDNN may do to float32 operands. float32: no tensor cores, no rounding of operands, no sums in less
/// than float32. tf32: tensor cores too, which read ten bits of mantissa. For bfloat16 operands: tf32.
enum class CudnnMath { float32, tf32 };

/// An engine with its settings, as cuDNN's heuristics offer it.
struct CudnnOffer {
  std::string name;  ///< "eng3_k2=1_k5=0": engine 3 and its knobs
  std::int64_t workspace_bytes = 0;
};

class CudnnPlan {
 public:
  virtual ~CudnnPlan() = default;
  /// Runs it on the device's stream and counts a library call. `addresses` are those of the description's
  /// inputs and outputs, in the order of its values. Throws Unavailable, naming the tensor, when one is no
  /// multiple of 16 bytes, Error when cuDNN refuses.
  virtual void enqueue(std::span<const void* const> addresses) = 0;
  [[nodiscard]] virtual const CudnnOffer& offer() const = 0;
};

class CudnnGraph {
 public:
  virtual ~CudnnGraph() = default;
  /// What suits the graph and the arithmetic, cuDNN's first choice first; never empty.
  [[nodiscard]] virtual const std::vector<CudnnOffer>& offers() const = 0;
  /// Builds one of them, compiling its kernel where it is a run-time engine, and allocates its workspace.
  /// Throws Unavailable with cuDNN's reason when it does not build after all. `index` is below
  /// offers().size(); the plan keeps what it needs of the graph.
  [[nodiscard]] virtual std::unique_ptr<CudnnPlan> build(std::size_t index) = 0;
};

/// Throws Unavailable, with cuDNN's reason, when cuDNN is missing or has no engine for the graph in this
/// arithmetic.
[[nodiscard]] std::unique_ptr<CudnnGraph> make_cudnn_graph(CudaDevice& device,
                                                           const CudnnDescription& description,
                                                           CudnnMath math);

/// The offers for a device that need not be there, described as cuDNN's own JSON does: {"deviceVer":900,
/// "multiProcessorCount":132, ...}. Throws as make_cudnn_graph does.
[[nodiscard]] std::vector<CudnnOffer> cudnn_offers(const std::string& device_properties,
                                                   const CudnnDescription& description,
                                                   CudnnMath math);

/// "9.19.0". Throws Unavailable when cuDNN is missing.
[[nodiscard]] std::string cudnn_version();

}  // namespace fusebench
