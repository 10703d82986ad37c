#include "variants/conv_transpose3d_residual/cpu_variant.hpp"

#include <memory>
#include <utility>

#include "harness/core/registry.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

class PreparedPlan final : public Plan {
 public:
  PreparedPlan(CpuPlan plan, bool biased) : plan_(std::move(plan)), biased_(biased) {}

  void enqueue(const TensorTable& tensors) override {
    plan_.run({tensors.input(tensor_x), tensors.input(tensor_w),
               biased_ ? tensors.input(tensor_conv_bias) : nullptr, tensors.input(tensor_b),
               tensors.output()});
  }
  std::string description() const override { return plan_.description; }

 private:
  CpuPlan plan_;
  bool biased_;
};

class Adapter final : public Variant {
 public:
  explicit Adapter(CpuVariant variant) : variant_(std::move(variant)) {
    info_ = {operator_name,      variant_.name,       variant_.idea, DeviceKind::cpu,
             variant_.precision, variant_.parameters, InPlace::no,   variant_.baseline};
  }

  const VariantInfo& info() const override { return info_; }

  std::optional<std::string> unavailable(const DeviceTraits&) const override {
    return variant_.unavailable.empty() ? std::nullopt : std::optional(variant_.unavailable);
  }

  std::unique_ptr<Plan> prepare(const Problem& problem, const Configuration& configuration,
                                Device&) const override {
    const ConvTranspose3d sizes = conv_transpose3d_of(problem);
    return std::make_unique<PreparedPlan>(variant_.plan(sizes, configuration), sizes.bias);
  }

 private:
  CpuVariant variant_;
  VariantInfo info_;
};

}  // namespace

bool add_cpu_variant(CpuVariant variant, const char* file) {
  return registry().add(std::make_unique<Adapter>(std::move(variant)), file);
}

}  // namespace fusebench::conv_transpose3d_residual
