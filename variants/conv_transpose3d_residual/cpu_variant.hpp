// What a CPU variant of conv_transpose3d_residual writes down: its idea, and how it makes the function that
// is timed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "harness/core/parameters.hpp"
#include "harness/core/variant.hpp"
#include "reference/conv_transpose3d_residual.hpp"

namespace fusebench::conv_transpose3d_residual {

/// The tensors of one call, laid out as the operator says; conv_bias is null where there is none. Each
/// is aligned to 4 bytes, and may end at an unmapped page.
struct CpuCall {
  const float* x;
  const float* w;
  const float* conv_bias;
  const float* b;
  float* y;
};

/// What prepare makes of a problem: the call, and what a person should know of it (Plan::description).
struct CpuPlan {
  std::function<void(const CpuCall&)> run;
  std::string description = {};
};

struct CpuVariant {
  std::string name;
  std::string idea;
  Precision precision = Precision::float32;
  ParameterSpace parameters = {};
  /// Everything that the sizes alone decide is made here and not timed. Throws Unavailable for sizes that
  /// it cannot do.
  std::function<CpuPlan(const ConvTranspose3d&, const Configuration&)> plan;
  bool baseline = false;
  std::string unavailable = {};  ///< why this build or machine cannot run it; empty when it can
};

/// Registers and returns true.
bool add_cpu_variant(CpuVariant variant, const char* file = __builtin_FILE());

}  // namespace fusebench::conv_transpose3d_residual
