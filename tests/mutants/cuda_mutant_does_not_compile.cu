// Must get outcome failed with the compiler's message, and nothing else may suffer.
#ifdef __CUDACC_RTC__
extern "C" __global__ void epilogue(float* y) { y[0] = no_such_name; }

#else
#include "variants/residual_epilogue/cuda_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

const bool registered = add_cuda_variant({
    .name = "cuda_mutant_does_not_compile",
    .idea = "must be caught",
    .source = __FILE__,
    .shape = [](const CudaRequest&, CudaKernel&) { return LaunchShape{}; },
});

}  // namespace
}  // namespace fusebench::residual_epilogue
#endif
