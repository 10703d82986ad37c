// The controls' oracle on a device: sizes elements, streams.
#pragma once

#include "harness/core/expectation.hd.hpp"

#ifdef __CUDACC_RTC__
namespace fusebench {

inline Expectation expect(const OracleArguments& arguments, unsigned long long index) {
  const float value = arguments.sizes[1] == 2 ? arguments.inputs[0].at(index) : 1.5F;
  return {value, value, 0.0, false};
}

}  // namespace fusebench
#endif
