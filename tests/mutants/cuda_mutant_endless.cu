// Must get outcome timed_out, and the device must be free for the next variant.
#ifdef __CUDACC_RTC__
#include "variants/residual_epilogue/epilogue.cuh"

extern "C" __global__ void epilogue(float* y, const float*, const float*, Extents) {
  volatile float* const watched = y;
  while (watched[0] != 1.5f) {
  }
}

#else
#include "variants/residual_epilogue/cuda_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

const bool registered = add_cuda_variant({
    .name = "cuda_mutant_endless",
    .idea = "must be caught",
    .source = __FILE__,
    .shape = [](const CudaRequest&, CudaKernel&) { return LaunchShape{}; },
});

}  // namespace
}  // namespace fusebench::residual_epilogue
#endif
