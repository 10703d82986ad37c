// Must get outcome failed with the compiler's message, and nothing else may suffer.
#ifdef __CUDACC_RTC__
extern "C" __global__ void epilogue(float* y) { y[0] = no_such_name; }

#else
#include "tests/mutants/cuda_mutant.hpp"

namespace fusebench::residual_epilogue {
namespace {

const bool registered = add_cuda_mutant({.name = "does_not_compile",
                                         .idea = must_be(21, "failed", "no_such_name"),
                                         .source = __FILE__,
                                         .entry = "epilogue"});

}  // namespace
}  // namespace fusebench::residual_epilogue
#endif
