// What one output element should be, and what an oracle is computed from. For host and device.
#pragma once

#include "harness/core/generator.hd.hpp"

namespace fusebench {

struct Expectation {
  float exact = 0.0F;      ///< float32, exact reference order
  double value = 0.0;      ///< float64 oracle
  double magnitude = 0.0;  ///< what the forward error bound scales with (G or K, see the operator)
  bool nan_input = false;  ///< a NaN entered, so only NaN may leave
  double underflow = 0.0;  ///< what operands that vanish cost, in units of the largest that may
  /// An honest implementation may multiply a zero that pads an input with a value that is not finite.
  bool may_be_nonfinite = false;
};

/// |y - value| <= relative * magnitude + absolute + flush * underflow.
struct ErrorBound {
  double relative = 0.0;
  double absolute = 0.0;
  double flush = 0.0;  ///< operands below it may be taken for 0
};

/// An input as the judge knows it: not what lies in memory, but what it was made from.
struct InputSource {
  InputRecipe recipe;
  unsigned long long stream = 0;
  unsigned long long count = 0;
  const float* values = nullptr;  ///< the judge's own copy, for an oracle that reads inputs
  bool finite = false;            ///< no value is an infinity or a NaN
  [[nodiscard]] constexpr float at(unsigned long long index) const noexcept {
    return input_value(recipe, stream, index, count);
  }
};

/// What a device's oracle, expect(arguments, index), is given.
struct OracleArguments {
  static constexpr unsigned most_inputs = 4;
  static constexpr unsigned most_sizes = 24;
  InputSource inputs[most_inputs];
  unsigned long long sizes[most_sizes] = {};  ///< of the problem, in its order
};

}  // namespace fusebench
