// Must get outcome failed, and its worker must be replaced: the context is poisoned for good.
#ifdef __CUDACC_RTC__
#include "variants/residual_epilogue/epilogue.cuh"

extern "C" __global__ void epilogue(float*, const float*, const float*, Extents) {
  *reinterpret_cast<volatile float*>(0x10) = 1.0f;
}

#else
#include "variants/residual_epilogue/cuda_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

const bool registered = add_cuda_variant({
    .name = "cuda_mutant_illegal_address",
    .idea = "must be caught",
    .source = __FILE__,
    .shape = [](const CudaRequest&, CudaKernel&) { return LaunchShape{}; },
});

}  // namespace
}  // namespace fusebench::residual_epilogue
#endif
