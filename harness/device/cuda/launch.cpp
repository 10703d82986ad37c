// The parts of the CUDA device that need no CUDA.
#include <limits>

#include "harness/core/error.hpp"
#include "harness/device/cuda/cuda_device.hpp"

namespace fusebench {

CudaDevice& cuda_device(Device& device) {
  auto* cuda = dynamic_cast<CudaDevice*>(&device);
  if (cuda == nullptr)
    throw Error("a CUDA variant was prepared for device '{}'", device.traits().name);
  return *cuda;
}

std::uint32_t blocks_for(std::int64_t work, std::int64_t per_block) {
  const std::int64_t blocks = (work + per_block - 1) / per_block;
  if (blocks > std::numeric_limits<std::int32_t>::max()) {
    throw Unavailable("{} blocks are more than a grid holds; choose larger blocks", blocks);
  }
  return static_cast<std::uint32_t>(blocks < 1 ? 1 : blocks);
}

}  // namespace fusebench
