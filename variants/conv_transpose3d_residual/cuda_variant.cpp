#include "variants/conv_transpose3d_residual/cuda_variant.hpp"

#include <fmt/format.h>

#include "harness/core/kernel_macros.hpp"
#include "harness/core/registry.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

class Adapter final : public Variant {
 public:
  explicit Adapter(CudaVariant variant) : variant_(std::move(variant)) {
    info_ = {operator_name,      variant_.name,       variant_.idea, DeviceKind::cuda,
             variant_.precision, variant_.parameters, InPlace::no,   variant_.baseline};
  }

  const VariantInfo& info() const override { return info_; }

  std::optional<std::string> unavailable(const DeviceTraits& device) const override {
    return device.architecture ? unsupported(*device.architecture)
                               : std::optional<std::string>("needs a CUDA device");
  }

  std::optional<std::string> unsupported(const Architecture& target) const override {
    const int only = variant_.only_architecture;
    if (only != 0 && (target.number != only || !target.specific)) {
      return fmt::format("needs sm_{}a and no other", only);
    }
    if (target.number >= variant_.oldest_architecture) return std::nullopt;
    return fmt::format("needs sm_{} or later", variant_.oldest_architecture);
  }

  std::optional<std::string> refuses(const Problem& problem) const override {
    return variant_.refuses ? variant_.refuses(conv_transpose3d_of(problem)) : std::nullopt;
  }

  std::vector<KernelSpec> kernels(const Problem& problem,
                                  const Configuration& configuration) const override {
    KernelSpec common{
        .source = variant_.source, .macros = variant_.macros, .contract = variant_.contract};
    add_macros(common, configuration, variant_.plan_parameters);
    if (!variant_.modules) return {common};
    std::vector<KernelSpec> specs;
    for (const Macros& macros : variant_.modules(conv_transpose3d_of(problem))) {
      specs.push_back(common);
      specs.back().macros.insert(specs.back().macros.end(), macros.begin(), macros.end());
    }
    return specs;
  }

  std::unique_ptr<Plan> prepare(const Problem& problem, const Configuration& configuration,
                                Device& device) const override {
    CudaDevice& cuda = cuda_device(device);
    std::vector<std::shared_ptr<CudaModule>> modules;
    for (const KernelSpec& spec : kernels(problem, configuration)) {
      modules.push_back(cuda.load(spec));
    }
    return variant_.plan({conv_transpose3d_of(problem), configuration, cuda, std::move(modules)});
  }

 private:
  CudaVariant variant_;
  VariantInfo info_;
};

}  // namespace

std::optional<std::string> refuses_all_but_doubling(const ConvTranspose3d& sizes) {
  if (sizes.groups != 1) return fmt::format("needs one group, not {}", sizes.groups);
  const std::pair<const char*, std::pair<PerDimension, std::int64_t>> wanted[] = {
      {"kernel", {sizes.kernel, 3}},
      {"stride", {sizes.stride, 2}},
      {"padding", {sizes.padding, 1}},
      {"output padding", {sizes.output_padding, 1}},
      {"dilation", {sizes.dilation, 1}}};
  for (const auto& [name, value] : wanted) {
    for (const std::int64_t extent : value.first) {
      if (extent != value.second) {
        return fmt::format("needs {} {} in every dimension, not {}", name, value.second, extent);
      }
    }
  }
  return std::nullopt;
}

bool add_cuda_variant(CudaVariant variant) {
  return registry().add(std::make_unique<Adapter>(std::move(variant)));
}

}  // namespace fusebench::conv_transpose3d_residual
