// As cpu_mutant.hpp, for kernels. One .cu file holds several, each under its own entry point.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tests/mutants/cpu_mutant.hpp"
#include "variants/residual_epilogue/cuda_variant.hpp"

namespace fusebench::residual_epilogue {

struct CudaMutant {
  std::string name;  ///< registered as cuda_mutant_NAME or cuda_honest_NAME
  std::string idea;
  std::string source;  ///< __FILE__
  std::string entry;   ///< of a kernel (y, c, b, extents), one thread an element; unless `plan`
  Precision precision = Precision::exact_order;
  std::uint32_t threads = 256;
  InPlace in_place = InPlace::no;
  std::function<std::unique_ptr<Plan>(const CudaRequest&)> plan = {};
};

/// The kernel `entry`, one thread an element, on any stream; null is the device's own.
inline std::function<void(void* stream, const TensorTable&)> launcher(const CudaRequest& request,
                                                                      const std::string& entry,
                                                                      std::uint32_t threads) {
  const LaunchShape shape = {.blocks = blocks_for(request.sizes.elements(), threads),
                             .threads = threads};
  std::shared_ptr<CudaKernel> kernel = request.module->kernel(entry);
  return [module = request.module, kernel, shape, extents = KernelExtents(request.sizes)](
             void* stream, const TensorTable& tensors) {
    kernel->launch_on(stream, shape, tensors.output(), tensors.input(tensor_c),
                      tensors.input(tensor_b), extents);
  };
}

inline std::unique_ptr<Plan> one_launch(const CudaRequest& request, const std::string& entry,
                                        std::uint32_t threads) {
  return make_plan([launch = launcher(request, entry, threads)](const TensorTable& tensors) {
    launch(nullptr, tensors);
  });
}

inline bool add_cuda(const CudaMutant& mutant, const char* prefix) {
  auto plan = mutant.plan;
  if (!plan) {
    plan = [mutant](const CudaRequest& request) {
      return one_launch(request, mutant.entry, mutant.threads);
    };
  }
  return add_cuda_variant({.name = prefix + mutant.name,
                           .idea = mutant.idea,
                           .source = mutant.source,
                           .precision = mutant.precision,
                           .plan = plan,
                           .in_place = mutant.in_place});
}

inline bool add_cuda_mutant(const CudaMutant& mutant) { return add_cuda(mutant, "cuda_mutant_"); }
inline bool add_cuda_honest(CudaMutant mutant) {
  mutant.idea = honest(mutant.idea);
  return add_cuda(mutant, "cuda_honest_");
}

}  // namespace fusebench::residual_epilogue
