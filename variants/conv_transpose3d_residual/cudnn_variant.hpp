// What a cuDNN variant of conv_transpose3d_residual writes down: its graphs, the kernels around them, and how
// they are put on the stream.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/variant.hpp"
#include "harness/device/cuda/cudnn/cudnn_plans.hpp"
#include "reference/conv_transpose3d_residual.hpp"

namespace fusebench::conv_transpose3d_residual {

/// What a plan is made from; the references live until prepare returns.
struct CudnnRequest {
  const ConvTranspose3d& convolution;
  CudaDevice& device;
  /// Of CudnnVariant::kernels, in their order.
  std::vector<std::shared_ptr<CudaModule>> modules;
  /// Of CudnnVariant::graphs, in their order.
  std::vector<std::unique_ptr<CudnnPlan>> plans;
};

struct CudnnVariant {
  std::string name;
  std::string idea;
  Precision precision = Precision::float32;
  CudnnMath math = CudnnMath::float32;
  std::vector<KernelSpec> kernels;
  std::function<std::vector<CudnnDescription>(const ConvTranspose3d&)> graphs;
  /// Why it does not do these sizes, beside what cuDNN itself says; nullopt when it does.
  std::function<std::optional<std::string>(const ConvTranspose3d&)> refuses = {};
  /// What enqueue() does.
  std::function<std::function<void(const TensorTable&)>(CudnnRequest&&)> steps;
  bool baseline = false;
};

/// Registers and returns true. Every variant has the tuning parameter `plan` and describes its engines.
bool add_cudnn_variant(CudnnVariant variant);

/// Its own output padding is what the output's extents say beyond the stride's grid, so below the stride.
[[nodiscard]] std::optional<std::string> refuses_wide_output_padding(const ConvTranspose3d& sizes);

}  // namespace fusebench::conv_transpose3d_residual
