// The formula's four steps as one graph: what cuDNN's run-time fusion makes of a memory-bound chain.
#include <array>

#include "harness/core/registry.hpp"
#include "harness/device/cuda/cudnn/cudnn_plans.hpp"
#include "variants/residual_epilogue/cuda_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

// c as [n, channels, spatial]: with more dimensions cuDNN refuses channels that vary slowest.
CudnnDescription chain(const Sizes& sizes) {
  const CudnnTensor whole =
      channels_first({sizes.rows / sizes.channels, sizes.channels, sizes.spatial});
  CudnnDescription graph;
  const auto c = graph.input("c", whole);
  const auto b = graph.input("b", channels_first({1, sizes.channels, 1}));
  const auto doubled = graph.add(graph.add(c, b), c);
  graph.output(graph.add(graph.multiply(doubled, c), c), "y", whole);
  return graph;
}

class PointwisePlan final : public Plan {
 public:
  explicit PointwisePlan(std::vector<std::unique_ptr<CudnnPlan>> plans)
      : plans_(std::move(plans)), description_(describe_cudnn_plans(plans_)) {}
  void enqueue(const TensorTable& tensors) override {
    const std::array<const void*, 3> addresses = {tensors.input(tensor_c), tensors.input(tensor_b),
                                                  tensors.output()};
    plans_.front()->enqueue(addresses);
  }
  std::string description() const override { return description_; }

 private:
  std::vector<std::unique_ptr<CudnnPlan>> plans_;
  std::string description_;
};

class PointwiseGraph final : public Variant {
 public:
  PointwiseGraph()
      : info_{operator_name,
              "cudnn_pointwise_graph",
              "the four steps as one cuDNN graph: what its run-time fusion is worth",
              DeviceKind::cuda,
              Precision::float32,
              ParameterSpace({cudnn_plan_parameter()})} {}
  const VariantInfo& info() const override { return info_; }
  std::optional<std::string> unavailable(const DeviceTraits& device) const override {
    return device.architecture ? cudnn_missing()
                               : std::optional<std::string>("needs a CUDA device");
  }
  std::unique_ptr<Plan> prepare(const Problem& problem, const Configuration& configuration,
                                Device& device) const override {
    return std::make_unique<PointwisePlan>(
        build_cudnn_plans(cuda_device(device), {chain(sizes_of(problem))}, CudnnMath::float32,
                          configuration.integer("plan")));
  }

 private:
  VariantInfo info_;
};

const bool registered = registry().add(std::make_unique<PointwiseGraph>());

}  // namespace
}  // namespace fusebench::residual_epilogue
