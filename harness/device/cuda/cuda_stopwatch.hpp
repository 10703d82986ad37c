// Times calls on a stream with events, behind a kernel that the host releases.
#pragma once

#include <cuda.h>

#include <memory>

#include "harness/device/cuda/cuda_device.hpp"

namespace fusebench {

class CudaStopwatch final : public Stopwatch {
 public:
  /// `eraser` is twice the L2; written before each cold call. The device must outlive the stopwatch.
  CudaStopwatch(CudaDevice& device, CUstream stream, Buffer eraser);
  ~CudaStopwatch() override;
  CudaStopwatch(const CudaStopwatch&) = delete;
  CudaStopwatch& operator=(const CudaStopwatch&) = delete;

  Lap cold(const std::function<void()>& call, const std::function<void()>& about_to_run) override;
  double back_to_back(const std::function<void()>& call, int count) override;
  bool hold() override;
  void release() override;
  std::optional<double> graph(const std::function<void()>& call, int count) override;

 private:
  struct Mailbox;  // page-locked words that host and device both see

  void read_clock(std::size_t offset);
  double held(const std::function<void()>& enqueue, const std::function<void()>& about_to_run = {});

  CUstream stream_;
  Buffer eraser_;
  std::shared_ptr<CudaModule> module_;
  std::unique_ptr<CudaKernel> hold_kernel_;
  std::unique_ptr<CudaKernel> read_clock_;
  Mailbox* mailbox_ = nullptr;
  CUdeviceptr mailbox_on_device_ = 0;
  CUevent start_ = nullptr;
  CUevent stop_ = nullptr;
};

}  // namespace fusebench
