#include "harness/device/cuda/cudnn/cudnn_plans.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "harness/core/error.hpp"

namespace fusebench {

Parameter cudnn_plan_parameter() {
  return {"plan", integers({0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                            12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}),
          "0"};
}

std::vector<std::size_t> chosen_cudnn_plans(const std::vector<std::size_t>& offered,
                                            std::int64_t plan) {
  const auto wanted = static_cast<std::size_t>(plan);
  const std::size_t most = *std::max_element(offered.begin(), offered.end());
  if (wanted >= most) {
    throw Unavailable("cuDNN offers {} plan{}, the first being plan=0", most, most == 1 ? "" : "s");
  }
  std::vector<std::size_t> chosen;
  for (const std::size_t count : offered) chosen.push_back(std::min(wanted, count - 1));
  return chosen;
}

std::vector<std::unique_ptr<CudnnPlan>> build_cudnn_plans(
    CudaDevice& device, const std::vector<CudnnDescription>& graphs, CudnnMath math,
    std::int64_t plan) {
  std::vector<std::unique_ptr<CudnnGraph>> made;
  std::vector<std::size_t> offered;
  for (const CudnnDescription& graph : graphs) {
    made.push_back(make_cudnn_graph(device, graph, math));
    offered.push_back(made.back()->offers().size());
  }
  const std::vector<std::size_t> chosen = chosen_cudnn_plans(offered, plan);
  std::vector<std::unique_ptr<CudnnPlan>> plans;
  for (std::size_t i = 0; i < made.size(); ++i) plans.push_back(made[i]->build(chosen[i]));
  return plans;
}

std::string describe_cudnn_plans(const std::string& version,
                                 const std::vector<CudnnOffer>& offers) {
  std::vector<std::string> engines;
  std::int64_t bytes = 0;
  for (const CudnnOffer& offer : offers) {
    bytes += offer.workspace_bytes;
    if (std::find(engines.begin(), engines.end(), offer.name) == engines.end()) {
      engines.push_back(offer.name);
    }
  }
  return fmt::format("cuDNN {}, engine{} {}, workspace {:.1f} MB", version,
                     engines.size() == 1 ? "" : "s", fmt::join(engines, " "),
                     static_cast<double>(bytes) / 1e6);
}

std::string describe_cudnn_plans(const std::vector<std::unique_ptr<CudnnPlan>>& plans) {
  std::vector<CudnnOffer> offers;
  for (const auto& plan : plans) offers.push_back(plan->offer());
  return describe_cudnn_plans(cudnn_version(), offers);
}

}  // namespace fusebench
