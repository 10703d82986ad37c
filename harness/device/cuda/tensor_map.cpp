#include "harness/device/cuda/tensor_map.hpp"

#include "harness/core/error.hpp"
#include "harness/device/cuda/driver_api.hpp"

namespace fusebench {

#if CUDA_VERSION >= 12000
namespace {

// Not in the driver's table: an older driver does without.
decltype(&cuTensorMapEncodeTiled) encoder() {
  static const auto encode =
      driver().symbol<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  return encode;
}

}  // namespace

bool have_tensor_maps() {
  try {
    return encoder() != nullptr;
  } catch (const Unavailable&) {
    return false;
  }
}

TensorMap tensor_map(const TensorBoxes& boxes) {
  static_assert(sizeof(TensorMap) == sizeof(CUtensorMap));
  TensorMap map{};
  const std::vector<std::uint32_t> steps(boxes.extents.size(), 1);
  driver().check(
      encoder()(reinterpret_cast<CUtensorMap*>(&map), CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                static_cast<std::uint32_t>(boxes.extents.size()), const_cast<float*>(boxes.address),
                boxes.extents.data(), boxes.strides.data(), boxes.box.data(), steps.data(),
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
      "cuTensorMapEncodeTiled");
  return map;
}
#else
bool have_tensor_maps() { return false; }
TensorMap tensor_map(const TensorBoxes&) {
  throw Unavailable("this build's cuda.h is older than 12.0, which has no tensor maps");
}
#endif

}  // namespace fusebench
