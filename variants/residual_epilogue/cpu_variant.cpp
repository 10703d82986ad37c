#include "variants/residual_epilogue/cpu_variant.hpp"

#include <memory>
#include <utility>

#include "harness/core/registry.hpp"

namespace fusebench::residual_epilogue {
namespace {

class Adapter final : public Variant {
 public:
  explicit Adapter(CpuVariant variant)
      : run_(variant.run),
        unavailable_(std::move(variant.unavailable)),
        info_{operator_name,    std::move(variant.name), std::move(variant.idea),
              DeviceKind::cpu,  variant.precision,       std::move(variant.parameters),
              variant.in_place, variant.baseline} {}

  const VariantInfo& info() const override { return info_; }

  std::optional<std::string> unavailable(const DeviceTraits&) const override {
    return unavailable_.empty() ? std::nullopt : std::optional(unavailable_);
  }

  std::unique_ptr<Plan> prepare(const Problem& problem, const Configuration& configuration,
                                Device&) const override {
    return make_plan(
        [run = run_, sizes = sizes_of(problem), configuration](const TensorTable& tensors) {
          run({tensors.input(tensor_c), tensors.input(tensor_b), tensors.output(), sizes},
              configuration);
        });
  }

 private:
  void (*run_)(const Epilogue&, const Configuration&);
  std::string unavailable_;
  VariantInfo info_;
};

}  // namespace

bool add_cpu_variant(CpuVariant variant, const char* file) {
  return registry().add(std::make_unique<Adapter>(std::move(variant)), file);
}

}  // namespace fusebench::residual_epilogue
