#include "harness/device/cuda/driver_api.hpp"

#include <array>
#include <string>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

// libcuda.so.1 lives outside the linker's path in some containers.
const std::array<std::string, 3> driver_names = {
    "libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};

}  // namespace

#define FUSEBENCH_STRING_OF(symbol) #symbol
#define FUSEBENCH_STRING(symbol) FUSEBENCH_STRING_OF(symbol)
#define FUSEBENCH_LOOK_UP(name) \
  , name(library_.symbol<decltype(&cu##name)>(FUSEBENCH_STRING(cu##name)))

DriverApi::DriverApi()
    : library_("the NVIDIA driver (libcuda.so.1)", driver_names)
          FUSEBENCH_DRIVER_FUNCTIONS(FUSEBENCH_LOOK_UP),
      ProfilerStart(library_.symbol<CUresult (*)()>("cuProfilerStart")),
      ProfilerStop(library_.symbol<CUresult (*)()>("cuProfilerStop")) {
  const CUresult result = Init(0);
  if (result == CUDA_ERROR_NO_DEVICE) throw Unavailable("the NVIDIA driver finds no GPU");
  if (result != CUDA_SUCCESS) {
    const char* text = nullptr;
    GetErrorString(result, &text);
    throw Unavailable("the NVIDIA driver does not start: {}",
                      text == nullptr ? "unknown error" : text);
  }
}

void DriverApi::check(CUresult result, const char* call) const {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  GetErrorString(result, &text);
  const std::string message = std::string(call) + ": " + (text == nullptr ? "unknown error" : text);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) throw Unavailable("{}", message);
  throw Error("{}", message);
}

const DriverApi& driver() {
  static const DriverApi api;
  return api;
}

}  // namespace fusebench
