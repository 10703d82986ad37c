#include "variants/conv_transpose3d_residual/cudnn_variant.hpp"

#include <fmt/format.h>

#include <utility>

#include "harness/core/registry.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

class CudnnSteps final : public Plan {
 public:
  CudnnSteps(std::string description, std::function<void(const TensorTable&)> steps)
      : description_(std::move(description)), steps_(std::move(steps)) {}
  void enqueue(const TensorTable& tensors) override { steps_(tensors); }
  std::string description() const override { return description_; }

 private:
  std::string description_;
  std::function<void(const TensorTable&)> steps_;
};

class Adapter final : public Variant {
 public:
  explicit Adapter(CudnnVariant variant) : variant_(std::move(variant)) {
    info_ = {operator_name,    variant_.name,      variant_.idea,
             DeviceKind::cuda, variant_.precision, ParameterSpace({cudnn_plan_parameter()}),
             InPlace::no,      variant_.baseline};
  }

  const VariantInfo& info() const override { return info_; }

  std::optional<std::string> unavailable(const DeviceTraits& device) const override {
    if (!device.architecture) return "needs a CUDA device";
    const auto reason = unsupported(*device.architecture);
    return reason ? reason : cudnn_missing();
  }

  // The layout kernels round to bfloat16.
  std::optional<std::string> unsupported(const Architecture& target) const override {
    if (target.number >= 80) return std::nullopt;
    return "needs sm_80 or later";
  }

  std::optional<std::string> refuses(const Problem& problem) const override {
    return variant_.refuses ? variant_.refuses(conv_transpose3d_of(problem)) : std::nullopt;
  }

  std::string library() const override { return "cuDNN " + cudnn_version(); }

  std::vector<KernelSpec> kernels(const Problem&, const Configuration&) const override {
    return variant_.kernels;
  }

  std::unique_ptr<Plan> prepare(const Problem& problem, const Configuration& configuration,
                                Device& device) const override {
    CudaDevice& cuda = cuda_device(device);
    const ConvTranspose3d convolution = conv_transpose3d_of(problem);
    CudnnRequest request{convolution,
                         cuda,
                         {},
                         build_cudnn_plans(cuda, variant_.graphs(convolution), variant_.math,
                                           configuration.integer("plan"))};
    for (const KernelSpec& spec : variant_.kernels) request.modules.push_back(cuda.load(spec));
    std::string description = describe_cudnn_plans(request.plans);
    return std::make_unique<CudnnSteps>(std::move(description), variant_.steps(std::move(request)));
  }

 private:
  CudnnVariant variant_;
  VariantInfo info_;
};

}  // namespace

bool add_cudnn_variant(CudnnVariant variant) {
  return registry().add(std::make_unique<Adapter>(std::move(variant)));
}

std::optional<std::string> refuses_wide_output_padding(const ConvTranspose3d& sizes) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (sizes.output_padding[i] >= sizes.stride[i]) {
      return fmt::format("needs an output padding below the stride, not {} and {}",
                         sizes.output_padding[i], sizes.stride[i]);
    }
  }
  return std::nullopt;
}

}  // namespace fusebench::conv_transpose3d_residual
