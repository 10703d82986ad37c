// The CUDA driver API as a table of functions looked up in libcuda.so.1 at run time.
#pragma once

#include <cuda.h>

#include "harness/device/cuda/dynamic_library.hpp"

namespace fusebench {

// cuda.h renames functions to their current versions by macro (cuMemAlloc is cuMemAlloc_v2); pasting
// first and expanding after keeps type and symbol in step with the header this was built with.
// clang-format never settles on this table.
// clang-format off
#define FUSEBENCH_DRIVER_FUNCTIONS(X)                                                  \
  X(Init) X(DriverGetVersion) X(GetErrorString)                                        \
  X(DeviceGetCount) X(DeviceGetName) X(DeviceGetAttribute) X(DeviceTotalMem)           \
  X(DeviceGetPCIBusId) X(DevicePrimaryCtxRetain) X(CtxSetCurrent) X(CtxSynchronize)    \
  X(CtxResetPersistingL2Cache)                                                         \
  X(MemAlloc) X(MemFree) X(MemHostAlloc) X(MemFreeHost) X(MemHostGetDevicePointer)     \
  X(MemGetAllocationGranularity) X(MemCreate) X(MemRelease) X(MemAddressReserve)       \
  X(MemAddressFree) X(MemMap) X(MemUnmap) X(MemSetAccess)                              \
  X(MemExportToShareableHandle) X(MemImportFromShareableHandle)                        \
  X(MemcpyHtoD) X(MemcpyDtoH) X(MemcpyDtoDAsync) X(MemsetD8Async) X(MemsetD32Async)    \
  X(StreamCreate) X(StreamDestroy) X(StreamSynchronize) X(StreamWaitEvent)             \
  X(StreamBeginCapture) X(StreamEndCapture)                                            \
  X(EventCreate) X(EventDestroy) X(EventRecord) X(EventElapsedTime)                    \
  X(GraphInstantiateWithFlags) X(GraphLaunch) X(GraphDestroy) X(GraphExecDestroy)      \
  X(ModuleLoadData) X(ModuleUnload) X(ModuleGetFunction) X(FuncSetAttribute)           \
  X(OccupancyMaxActiveBlocksPerMultiprocessor) X(LaunchKernel)                         \
  X(LaunchCooperativeKernel) X(LaunchKernelEx)
// clang-format on

class DriverApi {
 public:
  /// Throws Unavailable when there is no driver, it is too old, or it finds no device.
  DriverApi();

  /// Throws Error naming the call and the driver's message; Unavailable when memory ran out.
  void check(CUresult result, const char* call) const;

  /// A function that is not in the table. Throws Unavailable when the driver does not have it.
  template <typename Function>
  [[nodiscard]] Function symbol(const char* name) const {
    return library_.symbol<Function>(name);
  }

 private:
  DynamicLibrary library_;

 public:
#define FUSEBENCH_DECLARE(name) decltype(&cu##name) name;
  FUSEBENCH_DRIVER_FUNCTIONS(FUSEBENCH_DECLARE)
#undef FUSEBENCH_DECLARE
  // cuda.h does not declare these, cudaProfiler.h does, and not every installation has it.
  CUresult (*ProfilerStart)();
  CUresult (*ProfilerStop)();
};

/// The process's table, loaded on first use. Throws as the constructor does, every time.
[[nodiscard]] const DriverApi& driver();

}  // namespace fusebench

/// Calls a driver function and throws unless it succeeds: FUSEBENCH_CUDA(MemFree, address).
#define FUSEBENCH_CUDA(name, ...) \
  ::fusebench::driver().check(::fusebench::driver().name(__VA_ARGS__), "cu" #name)
