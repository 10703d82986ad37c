// What a CUDA variant of conv_transpose3d_residual writes down beside its kernels. One .cu file holds both:
// the run-time compiler sees the kernels, the host's compiler the registration (see cuda_direct.cu).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/variant.hpp"
#include "harness/device/cuda/cuda_device.hpp"
#include "reference/conv_transpose3d_residual.hpp"

namespace fusebench::conv_transpose3d_residual {

/// What a plan is made from; the references live until prepare returns.
struct CudaRequest {
  const ConvTranspose3d& convolution;
  const Configuration& configuration;
  CudaDevice& device;
  std::vector<std::shared_ptr<CudaModule>> modules;  ///< as CudaVariant::modules says, else one
};

using Macros = std::vector<std::pair<std::string, std::string>>;

struct CudaVariant {
  std::string name;
  std::string idea;
  std::string source;  ///< __FILE__: the kernels are in the same file
  Precision precision = Precision::float32;
  /// Parameters reach the kernels as macros in capitals: block_size=256 is -DBLOCK_SIZE=256.
  ParameterSpace parameters = {};
  /// But not these, which the plan alone reads: no kernel is compiled anew for them.
  std::vector<std::string> plan_parameters = {};
  /// Beside those of the parameters.
  Macros macros = {};
  /// Where a problem may take several modules of the source: the macros of each, beside all others.
  std::function<std::vector<Macros>(const ConvTranspose3d&)> modules = {};
  /// Why it does not do these sizes, such as "needs stride 2, not 1"; nullopt when it does.
  std::function<std::optional<std::string>(const ConvTranspose3d&)> refuses = {};
  std::function<std::unique_ptr<Plan>(const CudaRequest&)> plan;
  bool contract = true;  ///< let the compiler fuse multiply and add
  bool baseline = false;
  int oldest_architecture = 0;  ///< e.g. 80
  int only_architecture = 0;    ///< e.g. 90: needs its own instructions, sm_90a; 0: any
};

/// Registers and returns true.
bool add_cuda_variant(CudaVariant variant);

/// The convolution's own bias, null where it has none.
[[nodiscard]] inline const float* conv_bias_of(const ConvTranspose3d& convolution,
                                               const TensorTable& tensors) {
  return convolution.bias ? tensors.input(tensor_conv_bias) : nullptr;
}

/// For variants that only double each extent: why the sizes are not kernel 3, stride 2, padding 1, output
/// padding 1, dilation 1 and one group in every dimension; nullopt when they are.
[[nodiscard]] std::optional<std::string> refuses_all_but_doubling(const ConvTranspose3d& sizes);

}  // namespace fusebench::conv_transpose3d_residual
