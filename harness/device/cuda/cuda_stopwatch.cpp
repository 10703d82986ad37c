#include "harness/device/cuda/cuda_stopwatch.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>

#include "harness/core/error.hpp"
#include "harness/device/cuda/device_kernels.hpp"
#include "harness/device/cuda/driver_api.hpp"

namespace fusebench {
namespace {

constexpr std::uint64_t hold_timeout_ns = 3'000'000'000;
constexpr std::uint64_t clock_window_ns = 20'000;

CUdeviceptr device_address(const Buffer& buffer) {
  return reinterpret_cast<CUdeviceptr>(buffer.address());
}

}  // namespace

struct CudaStopwatch::Mailbox {
  volatile std::uint32_t release;
  volatile std::uint32_t timed_out;
  struct Clock {
    volatile std::uint64_t cycles;
    volatile std::uint64_t elapsed_ns;
    [[nodiscard]] double mhz() const {
      const auto ns = static_cast<double>(elapsed_ns);
      return ns > 0 ? 1e3 * static_cast<double>(cycles) / ns : 0.0;
    }
  };
  Clock before;
  Clock after;
};

CudaStopwatch::CudaStopwatch(CudaDevice& device, CUstream stream, Buffer eraser)
    : stream_(stream),
      eraser_(std::move(eraser)),
      module_(device.load(timing_kernels())),
      hold_kernel_(module_->kernel("hold")),
      read_clock_(module_->kernel("read_clock")) {
  void* host = nullptr;
  FUSEBENCH_CUDA(MemHostAlloc, &host, sizeof(Mailbox), CU_MEMHOSTALLOC_DEVICEMAP);
  mailbox_ = static_cast<Mailbox*>(host);
  FUSEBENCH_CUDA(MemHostGetDevicePointer, &mailbox_on_device_, host, 0);
  FUSEBENCH_CUDA(EventCreate, &start_, CU_EVENT_DEFAULT);
  FUSEBENCH_CUDA(EventCreate, &stop_, CU_EVENT_DEFAULT);
}

CudaStopwatch::~CudaStopwatch() {
  // Unchecked: after an illegal address every call fails, and the process ends soon anyway.
  (void)driver().EventDestroy(start_);
  (void)driver().EventDestroy(stop_);
  (void)driver().MemFreeHost(mailbox_);
}

// Enqueues a reading of the SM clock into the mailbox's Clock at `offset`.
void CudaStopwatch::read_clock(std::size_t offset) {
  const CUdeviceptr clock = mailbox_on_device_ + offset;
  read_clock_->launch({}, clock + offsetof(Mailbox::Clock, cycles),
                      clock + offsetof(Mailbox::Clock, elapsed_ns), clock_window_ns);
}

bool CudaStopwatch::hold() {
  mailbox_->release = 0;
  mailbox_->timed_out = 0;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  hold_kernel_->launch({}, mailbox_on_device_ + offsetof(Mailbox, release),
                       mailbox_on_device_ + offsetof(Mailbox, timed_out), hold_timeout_ns);
  return true;
}

void CudaStopwatch::release() {
  mailbox_->release = 1;
  FUSEBENCH_CUDA(StreamSynchronize, stream_);
  if (mailbox_->timed_out != 0) {
    throw Error(
        "the call waits for the device, so it cannot be timed: enqueue() must only enqueue");
  }
}

// Runs `enqueue` behind the holding kernel and between the two events; nanoseconds between them.
double CudaStopwatch::held(const std::function<void()>& enqueue,
                           const std::function<void()>& about_to_run) {
  read_clock(offsetof(Mailbox, before));
  (void)hold();
  try {
    FUSEBENCH_CUDA(EventRecord, start_, stream_);
    enqueue();
    FUSEBENCH_CUDA(EventRecord, stop_, stream_);
    read_clock(offsetof(Mailbox, after));
    if (about_to_run) about_to_run();
  } catch (...) {
    mailbox_->release = 1;
    throw;
  }
  release();
  float milliseconds = 0.0F;
  FUSEBENCH_CUDA(EventElapsedTime, &milliseconds, start_, stop_);
  return std::round(static_cast<double>(milliseconds) * 1e9) / 1e3;  // a float's digits, no more
}

Lap CudaStopwatch::cold(const std::function<void()>& call,
                        const std::function<void()>& about_to_run) {
  // A persisting window left by an earlier call would keep its lines through the erasing
  // (llm.c #851). Devices without such windows refuse; that is as good.
  (void)driver().CtxResetPersistingL2Cache();
  FUSEBENCH_CUDA(MemsetD8Async, device_address(eraser_), 0, eraser_.bytes(), stream_);
  const double ns = held(call, about_to_run);
  return {ns, std::min(mailbox_->before.mhz(), mailbox_->after.mhz())};
}

double CudaStopwatch::back_to_back(const std::function<void()>& call, int count) {
  return held([&] {
           for (int i = 0; i < count; ++i) call();
         }) /
         count;
}

std::optional<double> CudaStopwatch::graph(const std::function<void()>& call, int count) {
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  FUSEBENCH_CUDA(StreamBeginCapture, stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  try {
    for (int i = 0; i < count; ++i) call();
  } catch (...) {
    (void)driver().StreamEndCapture(stream_, &graph);
    throw;
  }
  FUSEBENCH_CUDA(StreamEndCapture, stream_, &graph);
  const CUresult made = driver().GraphInstantiateWithFlags(&executable, graph, 0);
  (void)driver().GraphDestroy(graph);
  driver().check(made, "cuGraphInstantiate");
  const std::unique_ptr<CUgraphExec_st, CUresult (*)(CUgraphExec)> owner(executable,
                                                                         driver().GraphExecDestroy);
  FUSEBENCH_CUDA(GraphLaunch, executable, stream_);  // the first launch uploads the graph
  FUSEBENCH_CUDA(StreamSynchronize, stream_);
  return held([&] { FUSEBENCH_CUDA(GraphLaunch, executable, stream_); }) / count;
}

}  // namespace fusebench
