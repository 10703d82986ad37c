#include "variants/residual_epilogue/cuda_variant.hpp"

#include <algorithm>
#include <utility>

#include "harness/core/error.hpp"
#include "harness/core/kernel_macros.hpp"
#include "harness/core/registry.hpp"

namespace fusebench::residual_epilogue {
namespace {

class Adapter final : public Variant {
 public:
  explicit Adapter(CudaVariant variant) : variant_(std::move(variant)) {
    info_ = {operator_name,      variant_.name,       variant_.idea,     DeviceKind::cuda,
             variant_.precision, variant_.parameters, variant_.in_place, variant_.baseline};
  }

  const VariantInfo& info() const override { return info_; }

  std::optional<std::string> unavailable(const DeviceTraits& device) const override {
    return device.architecture ? unsupported(*device.architecture)
                               : std::optional<std::string>("needs a CUDA device");
  }

  std::optional<std::string> unsupported(const Architecture& target) const override {
    if (target.number >= variant_.oldest_architecture) return std::nullopt;
    return fmt::format("needs sm_{} or later", variant_.oldest_architecture);
  }

  std::vector<KernelSpec> kernels(const Problem&,
                                  const Configuration& configuration) const override {
    KernelSpec spec{.source = variant_.source, .macros = {}, .contract = variant_.contract};
    // The size of the grid is none of the kernel's.
    static const std::vector<std::string> of_the_launch = {"blocks_per_sm"};
    add_macros(spec, configuration, of_the_launch);
    return {spec};
  }

  std::unique_ptr<Plan> prepare(const Problem& problem, const Configuration& configuration,
                                Device& device) const override {
    CudaDevice& cuda = cuda_device(device);
    const Sizes sizes = sizes_of(problem);
    const CudaRequest request{sizes, configuration, cuda,
                              cuda.load(kernels(problem, configuration).front())};
    if (variant_.plan) return variant_.plan(request);

    std::shared_ptr<CudaKernel> kernel = request.module->kernel("epilogue");
    const LaunchShape shape = variant_.shape(request, *kernel);
    return make_plan([module = request.module, kernel, shape,
                      extents = KernelExtents(sizes)](const TensorTable& tensors) {
      kernel->launch(shape, tensors.output(), tensors.input(tensor_c), tensors.input(tensor_b),
                     extents);
    });
  }

 private:
  CudaVariant variant_;
  VariantInfo info_;
};

}  // namespace

LaunchShape persistent_grid(const CudaRequest& request, CudaKernel& kernel,
                            std::int64_t elements_per_block) {
  LaunchShape shape = one_tile_a_block(request, elements_per_block);
  const std::int64_t resident =
      std::min<std::int64_t>(request.configuration.integer("blocks_per_sm"),
                             kernel.blocks_per_multiprocessor(shape.threads, 0));
  const DeviceTraits& traits = request.device.traits();
  if (resident == 0) {
    throw Unavailable("a block of {} does not fit a multiprocessor of {}",
                      request.configuration.to_string(), traits.name);
  }
  shape.blocks = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(shape.blocks, 1, resident * traits.processors));
  return shape;
}

bool add_cuda_variant(CudaVariant variant) {
  return registry().add(std::make_unique<Adapter>(std::move(variant)));
}

}  // namespace fusebench::residual_epilogue
