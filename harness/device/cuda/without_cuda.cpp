// Stands in for the CUDA device in a build made without the CUDA headers.
#include "harness/core/error.hpp"
#include "harness/device/call_clock.hpp"
#include "harness/device/cuda/compiler.hpp"
#include "harness/device/cuda/cuda_device.hpp"
#include "harness/device/cuda/tensor_map.hpp"

namespace fusebench {
namespace {

constexpr const char* reason =
    "this build has no CUDA: cuda.h and nvrtc.h were not found; install the CUDA Toolkit, or run "
    "scripts/setup with FUSEBENCH_CUDA=1, and build again";

}  // namespace

DeviceStatus probe_cuda() { return {std::nullopt, reason}; }
std::unique_ptr<Device> open_cuda(const DeviceOptions&) { throw Unavailable(reason); }
std::unique_ptr<CallClock> make_cuda_call_clock(CudaDevice&) { throw Unavailable(reason); }
void tell_profiler(bool) {}
bool have_tensor_maps() { return false; }
TensorMap tensor_map(const TensorBoxes&) { throw Unavailable(reason); }
std::string compiler_version() { throw Unavailable(reason); }
std::string compiler_options(const KernelSpec&, const Architecture&) { throw Unavailable(reason); }
CompiledKernel compile_kernel(const KernelSpec&, const Architecture&, const std::string&) {
  throw Unavailable(reason);
}

}  // namespace fusebench
