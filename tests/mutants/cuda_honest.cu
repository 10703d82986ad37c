// Honest but unusual ways to launch the right thing: none may ever be refused.
#ifdef __CUDACC_RTC__
#include "variants/residual_epilogue/epilogue.cuh"

extern "C" __global__ void right(float* y, const float* c, const float* b, Extents extents) {
  const u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x;
  if (i < extents.elements) y[i] = exact_order(c[i], bias_of(b, extents, i));
}

extern "C" __global__ void other_order(float* y, const float* c, const float* b, Extents extents) {
  const u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x;
  if (i < extents.elements) y[i] = fmaf(c[i], fmaf(2.0f, c[i], bias_of(b, extents, i)), c[i]);
}

// Elements [first, last) alone.
extern "C" __global__ void part(float* y, const float* c, const float* b, Extents extents,
                                u64 first, u64 last) {
  const u64 i = first + blockIdx.x * u64(blockDim.x) + threadIdx.x;
  if (i < last) y[i] = exact_order(c[i], bias_of(b, extents, i));
}

extern "C" __global__ void strided(float* y, const float* c, const float* b, Extents extents) {
  const u64 step = gridDim.x * u64(blockDim.x);
  for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < extents.elements; i += step) {
    y[i] = exact_order(c[i], bias_of(b, extents, i));
  }
}

#else
#include "tests/mutants/cuda_mutant.hpp"

#if __has_include(<cuda.h>)
#include "harness/device/cuda/driver_api.hpp"

namespace fusebench::residual_epilogue {
namespace {

std::unique_ptr<Plan> cooperative(const CudaRequest& request) {
  std::shared_ptr<CudaKernel> kernel = request.module->kernel("strided");
  const LaunchShape shape = {
      .blocks = static_cast<std::uint32_t>(request.device.traits().processors),
      .threads = 512,
      .cooperative = true};
  return make_plan([module = request.module, kernel, shape,
                    extents = KernelExtents(request.sizes)](const TensorTable& tensors) {
    kernel->launch(shape, tensors.output(), tensors.input(tensor_c), tensors.input(tensor_b),
                   extents);
  });
}

std::unique_ptr<Plan> many_kernels(const CudaRequest& request) {
  constexpr std::uint64_t parts = 16;
  std::shared_ptr<CudaKernel> kernel = request.module->kernel("part");
  return make_plan([module = request.module, kernel,
                    extents = KernelExtents(request.sizes)](const TensorTable& tensors) {
    for (std::uint64_t k = 0; k < parts; ++k) {
      const std::uint64_t first = extents.elements * k / parts;
      const std::uint64_t last = extents.elements * (k + 1) / parts;
      if (first == last) continue;
      kernel->launch(
          {.blocks = blocks_for(static_cast<std::int64_t>(last - first), 128), .threads = 128},
          tensors.output(), tensors.input(tensor_c), tensors.input(tensor_b), extents, first, last);
    }
  });
}

// A stream of its own, between two events that tie it to the plan's.
std::unique_ptr<Plan> joined_stream(const CudaRequest& request) {
  CUstream own = nullptr;
  CUevent before = nullptr;
  CUevent after = nullptr;
  FUSEBENCH_CUDA(StreamCreate, &own, CU_STREAM_NON_BLOCKING);
  FUSEBENCH_CUDA(EventCreate, &before, CU_EVENT_DISABLE_TIMING);
  FUSEBENCH_CUDA(EventCreate, &after, CU_EVENT_DISABLE_TIMING);
  auto* const main = static_cast<CUstream>(request.device.stream());
  return make_plan([=, launch = launcher(request, "right", 256)](const TensorTable& tensors) {
    FUSEBENCH_CUDA(EventRecord, before, main);
    FUSEBENCH_CUDA(StreamWaitEvent, own, before, 0);
    launch(own, tensors);
    FUSEBENCH_CUDA(EventRecord, after, own);
    FUSEBENCH_CUDA(StreamWaitEvent, main, after, 0);
  });
}

// Captured when it is first called, launched as a graph ever after.
class GraphPlan final : public Plan {
 public:
  explicit GraphPlan(const CudaRequest& request)
      : launch_(launcher(request, "right", 256)),
        stream_(static_cast<CUstream>(request.device.stream())) {
    FUSEBENCH_CUDA(StreamCreate, &capturing_, CU_STREAM_NON_BLOCKING);
  }
  ~GraphPlan() override {
    if (executable_ != nullptr) (void)driver().GraphExecDestroy(executable_);
    (void)driver().StreamDestroy(capturing_);
  }
  GraphPlan(const GraphPlan&) = delete;
  GraphPlan& operator=(const GraphPlan&) = delete;

  void enqueue(const TensorTable& tensors) override {
    if (executable_ == nullptr) capture(tensors);
    FUSEBENCH_CUDA(GraphLaunch, executable_, stream_);
  }

 private:
  void capture(const TensorTable& tensors) {
    CUgraph graph = nullptr;
    FUSEBENCH_CUDA(StreamBeginCapture, capturing_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    launch_(capturing_, tensors);
    FUSEBENCH_CUDA(StreamEndCapture, capturing_, &graph);
    FUSEBENCH_CUDA(GraphInstantiateWithFlags, &executable_, graph, 0);
    FUSEBENCH_CUDA(GraphDestroy, graph);
  }

  std::function<void(void*, const TensorTable&)> launch_;
  CUstream stream_;
  CUstream capturing_ = nullptr;
  CUgraphExec executable_ = nullptr;
};

bool add(const char* name, const char* idea,
         std::function<std::unique_ptr<Plan>(const CudaRequest&)> plan) {
  return add_cuda_honest({.name = name, .idea = idea, .source = __FILE__, .plan = std::move(plan)});
}

const bool registered =
    add("cooperative", "a cooperative launch", cooperative) &&
    add("many_kernels", "sixteen small kernels", many_kernels) &&
    add("joined_stream", "a stream of its own, joined by events", joined_stream) &&
    add("graph", "a graph launch inside",
        [](const CudaRequest& request) -> std::unique_ptr<Plan> {
          return std::make_unique<GraphPlan>(request);
        }) &&
    add_cuda_honest({.name = "huge_grid",
                     .idea = "32 threads a block",
                     .source = __FILE__,
                     .entry = "right",
                     .threads = 32}) &&
    add_cuda_honest({.name = "in_place",
                     .idea = "writes where it reads",
                     .source = __FILE__,
                     .entry = "right",
                     .in_place = InPlace::also}) &&
    add_cuda_honest({.name = "other_order",
                     .idea = "fma(c, fma(2, c, b), c)",
                     .source = __FILE__,
                     .entry = "other_order",
                     .precision = Precision::float32});

}  // namespace
}  // namespace fusebench::residual_epilogue
#endif
#endif
