// How bulk tensor copies see an array in global memory (sm_90 and later). For host and device.
#pragma once

namespace fusebench {

/// Made by tensor_map() of tensor_map.hpp. A kernel takes it in a parameter that is a __grid_constant__.
struct alignas(64) TensorMap {
  unsigned long long words[16];
};

}  // namespace fusebench
