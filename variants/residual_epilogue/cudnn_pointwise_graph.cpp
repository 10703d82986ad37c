// The formula's four steps as one graph: what cuDNN's run-time fusion makes of a memory-bound chain. A call of
// it for each item: given a batch, cuDNN 9.19 computes the first item only (docs/cudnn.md).
#include <array>

#include <fmt/format.h>

#include "harness/core/registry.hpp"
#include "harness/device/cuda/cudnn/cudnn_plans.hpp"
#include "variants/residual_epilogue/cuda_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

constexpr std::int64_t alignment = 16;

std::int64_t items_of(const Sizes& sizes) { return sizes.rows / sizes.channels; }
std::int64_t item_elements(const Sizes& sizes) { return sizes.channels * sizes.spatial; }

// One item of c as [1, channels, spatial]: with more dimensions cuDNN refuses channels that vary slowest.
CudnnDescription chain(const Sizes& sizes) {
  const CudnnTensor item = channels_first({1, sizes.channels, sizes.spatial});
  CudnnDescription graph;
  const auto c = graph.input("c", item);
  const auto b = graph.input("b", channels_first({1, sizes.channels, 1}));
  const auto doubled = graph.add(graph.add(c, b), c);
  graph.output(graph.add(graph.multiply(doubled, c), c), "y", item);
  return graph;
}

class PointwisePlan final : public Plan {
 public:
  PointwisePlan(const Sizes& sizes, std::vector<std::unique_ptr<CudnnPlan>> plans)
      : items_(items_of(sizes)),
        item_elements_(item_elements(sizes)),
        plans_(std::move(plans)),
        description_(describe_cudnn_plans(plans_)) {}
  void enqueue(const TensorTable& tensors) override {
    const float* c = tensors.input(tensor_c);
    float* y = tensors.output();
    for (std::int64_t i = 0; i < items_; ++i, c += item_elements_, y += item_elements_) {
      const std::array<const void*, 3> addresses = {c, tensors.input(tensor_b), y};
      plans_.front()->enqueue(addresses);
    }
  }
  std::string description() const override { return description_; }

 private:
  std::int64_t items_;
  std::int64_t item_elements_;
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
  // Wherever the tensors lie, the second item of such is at no multiple.
  std::optional<std::string> refuses(const Problem& problem) const override {
    const Sizes sizes = sizes_of(problem);
    const std::int64_t bytes = item_elements(sizes) * std::int64_t{sizeof(float)};
    if (items_of(sizes) == 1 || bytes % alignment == 0) return std::nullopt;
    return fmt::format("needs items of a multiple of {} bytes, not {}", alignment, bytes);
  }
  std::string library() const override { return "cuDNN " + cudnn_version(); }
  std::unique_ptr<Plan> prepare(const Problem& problem, const Configuration& configuration,
                                Device& device) const override {
    const Sizes sizes = sizes_of(problem);
    return std::make_unique<PointwisePlan>(
        sizes, build_cudnn_plans(cuda_device(device), {chain(sizes)}, CudnnMath::float32,
                                 configuration.integer("plan")));
  }

 private:
  VariantInfo info_;
};

const bool registered = registry().add(std::make_unique<PointwiseGraph>());

}  // namespace
}  // namespace fusebench::residual_epilogue
