// Kernels and plans that are right only while they think they are watched, or put the work elsewhere.
#ifdef __CUDACC_RTC__
#include "variants/residual_epilogue/epilogue.cuh"

__device__ inline u64 element() { return blockIdx.x * u64(blockDim.x) + threadIdx.x; }

extern "C" __global__ void right(float* y, const float* c, const float* b, Extents extents) {
  const u64 i = element();
  if (i < extents.elements) y[i] = exact_order(c[i], bias_of(b, extents, i));
}

// One row a block of y, which ends at 65,535.
extern "C" __global__ void rows_in_y(float* y, const float* c, const float* b, Extents extents) {
  const u64 spatial = extents.spatial.divisor;
  const u64 i = element();
  if (i >= spatial) return;
  const u64 at = blockIdx.y * spatial + i;
  y[at] = exact_order(c[at], bias_of(b, extents, at));
}

// Keeps the first bias it meets in a global.
__device__ float kept[65536];
extern "C" __global__ void stale_bias(float* y, const float* c, const float* b, Extents extents,
                                      u32 first) {
  const u64 i = element();
  if (i >= extents.elements) return;
  const u64 channel = extents.channels.remainder(extents.spatial.quotient(i));
  if (channel >= 65536) {
    y[i] = exact_order(c[i], b[channel]);
    return;
  }
  if (first != 0) kept[channel] = b[channel];
  y[i] = exact_order(c[i], first != 0 ? b[channel] : kept[channel]);
}

#else
#include "harness/core/error.hpp"
#include "harness/device/cuda/compiler.hpp"
#include "tests/mutants/cuda_mutant.hpp"

#if __has_include(<cuda.h>)
#include "harness/device/cuda/driver_api.hpp"

namespace fusebench::residual_epilogue {
namespace {

constexpr std::uint32_t threads = 256;

bool is_timed_size(const Sizes& sizes) { return sizes.elements() > 500'000; }

/// A plan that calls body(launch, tensors): launch(tensors) is the right kernel on the plan's stream.
template <typename Body>
std::unique_ptr<Plan> around(const CudaRequest& request, Body body) {
  std::shared_ptr<Plan> plan = one_launch(request, "right", threads);
  return make_plan(
      [plan, body, timed = is_timed_size(request.sizes)](const TensorTable& tensors) mutable {
        body([&] { plan->enqueue(tensors); }, tensors, timed);
      });
}

std::unique_ptr<Plan> side_stream(const CudaRequest& request) {
  CUstream stream = nullptr;
  FUSEBENCH_CUDA(StreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  return make_plan([launch = launcher(request, "right", threads),
                    stream](const TensorTable& tensors) { launch(stream, tensors); });
}

// Waits for the plan's stream, which then never waits for it: the end of the work escapes.
std::unique_ptr<Plan> forks_without_join(const CudaRequest& request) {
  CUstream stream = nullptr;
  CUevent begun = nullptr;
  FUSEBENCH_CUDA(StreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  FUSEBENCH_CUDA(EventCreate, &begun, CU_EVENT_DISABLE_TIMING);
  auto* const main = static_cast<CUstream>(request.device.stream());
  return make_plan([=, launch = launcher(request, "right", threads)](const TensorTable& tensors) {
    FUSEBENCH_CUDA(EventRecord, begun, main);
    FUSEBENCH_CUDA(StreamWaitEvent, stream, begun, 0);
    launch(stream, tensors);
  });
}

std::unique_ptr<Plan> failed_launch(const CudaRequest& request) {
  std::shared_ptr<CudaKernel> kernel = request.module->kernel("right");
  return make_plan([module = request.module, kernel,
                    extents = KernelExtents(request.sizes)](const TensorTable& tensors) {
    try {
      kernel->launch({.blocks = 1, .threads = 4096}, tensors.output(), tensors.input(tensor_c),
                     tensors.input(tensor_b), extents);
    } catch (const Error&) {  // nobody looks
    }
  });
}

// Past the harness's own way to launch a kernel, as a library would.
std::unique_ptr<Plan> launched_by_hand(const CudaRequest& request, const char* entry,
                                       std::uint32_t blocks_x, std::uint32_t blocks_y) {
  const CompiledKernel compiled =
      compile_kernel({.source = __FILE__, .macros = {}}, *request.device.traits().architecture, "");
  CUmodule loaded = nullptr;
  CUfunction function = nullptr;
  FUSEBENCH_CUDA(ModuleLoadData, &loaded, compiled.cubin.data());
  FUSEBENCH_CUDA(ModuleGetFunction, &function, loaded, entry);
  auto* const stream = static_cast<CUstream>(request.device.stream());
  return make_plan([=, extents = KernelExtents(request.sizes)](const TensorTable& tensors) {
    float* y = tensors.output();
    const float* c = tensors.input(tensor_c);
    const float* b = tensors.input(tensor_b);
    KernelExtents copy = extents;
    std::array<void*, 4> arguments = {&y, &c, &b, &copy};
    FUSEBENCH_CUDA(LaunchKernel, function, blocks_x, blocks_y, 1, threads, 1, 1, 0, stream,
                   arguments.data(), nullptr);
  });
}

std::unique_ptr<Plan> never_launches(const CudaRequest& request) {
  return launched_by_hand(request, "right", blocks_for(request.sizes.elements(), threads), 1);
}

std::unique_ptr<Plan> grid_y(const CudaRequest& request) {
  return launched_by_hand(request, "rows_in_y", blocks_for(request.sizes.spatial, threads),
                          static_cast<std::uint32_t>(request.sizes.rows));
}

std::unique_ptr<Plan> stale_bias(const CudaRequest& request) {
  std::shared_ptr<CudaKernel> kernel = request.module->kernel("stale_bias");
  const LaunchShape shape = {.blocks = blocks_for(request.sizes.elements(), threads),
                             .threads = threads};
  return make_plan([module = request.module, kernel, shape, first = std::uint32_t{1},
                    extents = KernelExtents(request.sizes)](const TensorTable& tensors) mutable {
    kernel->launch(shape, tensors.output(), tensors.input(tensor_c), tensors.input(tensor_b),
                   extents, first);
    first = 0;
  });
}

bool add(const char* name, const std::string& idea,
         std::function<std::unique_ptr<Plan>(const CudaRequest&)> plan) {
  return add_cuda_mutant({.name = name, .idea = idea, .source = __FILE__, .plan = std::move(plan)});
}

const bool registered =
    add("side_stream",
        must_be(22, "wrong", "does not wait for the one|after the call had returned"),
        side_stream) &&
    add("side_stream_when_timed",
        must_be(22, "wrong", "does not wait for the one it must be enqueued on"),
        [](const CudaRequest& request) {
          return is_timed_size(request.sizes) ? side_stream(request)
                                              : one_launch(request, "right", threads);
        }) &&
    add("forks_without_join", must_be(22, "wrong", "after the call had returned"),
        forks_without_join) &&
    add("failed_launch", must_be(21, "wrong", "never written"), failed_launch) &&
    add("never_launches", must_be(38, "wrong", "launched no kernel of its own"), never_launches) &&
    add("grid_y", must_be(18, "failed", "c=65537.*cuLaunchKernel"), grid_y) &&
    add("stale_bias", must_be(12, "wrong", "after input b was changed in place"), stale_bias) &&
    add("right_at_first", must_be(7, "wrong", "wrong in timed call"),
        [](const CudaRequest& request) {
          return around(request,
                        [calls = 0](const auto& launch, const TensorTable&, bool timed) mutable {
                          if (!timed || ++calls < 10) launch();
                        });
        }) &&
    add("waits", must_be(21, "failed", "must only enqueue"), [](const CudaRequest& request) {
      return around(request,
                    [&device = request.device](const auto& launch, const TensorTable&, bool) {
                      launch();
                      device.synchronise();
                    });
    });

}  // namespace
}  // namespace fusebench::residual_epilogue
#endif
#endif
