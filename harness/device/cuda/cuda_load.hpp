// Work beside a candidate's on a GPU, on a stream of its own.
#pragma once

#include <cuda.h>

#include <memory>

#include "harness/device/cuda/cuda_device.hpp"

namespace fusebench {

/// Starts loads; kept by the device, which must outlive it.
class CudaLoads {
 public:
  explicit CudaLoads(CudaDevice& device);
  ~CudaLoads();
  CudaLoads(const CudaLoads&) = delete;
  CudaLoads& operator=(const CudaLoads&) = delete;

  /// A few small blocks on a quarter of the multiprocessors; at most one load at a time.
  [[nodiscard]] std::unique_ptr<Load> start();

 private:
  class Running;

  std::uint32_t blocks_;
  std::shared_ptr<CudaModule> module_;
  Buffer scratch_;
  volatile std::uint32_t* stop_ = nullptr;
  CUdeviceptr stop_on_device_ = 0;
  CUstream stream_ = nullptr;
};

}  // namespace fusebench
