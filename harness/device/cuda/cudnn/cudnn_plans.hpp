// Choosing among the plans that cuDNN offers: what every cuDNN variant's tuning parameter `plan` means.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/core/parameters.hpp"
#include "harness/device/cuda/cudnn/cudnn_graph.hpp"

namespace fusebench {

/// `plan`, 0 to 23; 0, the default, is cuDNN's first choice.
[[nodiscard]] Parameter cudnn_plan_parameter();

/// Which of `offered` plans the parameter means for each graph of a variant: the plan of that number, or the
/// last one of a graph that has fewer. Throws Unavailable, saying how many there are, when none has as many.
[[nodiscard]] std::vector<std::size_t> chosen_cudnn_plans(const std::vector<std::size_t>& offered,
                                                          std::int64_t plan);

/// The plans of a variant's graphs, built. Throws as make_cudnn_graph, chosen_cudnn_plans and
/// CudnnGraph::build do.
[[nodiscard]] std::vector<std::unique_ptr<CudnnPlan>> build_cudnn_plans(
    CudaDevice& device, const std::vector<CudnnDescription>& graphs, CudnnMath math,
    std::int64_t plan);

/// "cuDNN 9.19.0, engine eng3_k2=1, workspace 134.2 MB"; several engines are listed, alike ones once.
[[nodiscard]] std::string describe_cudnn_plans(const std::string& version,
                                               const std::vector<CudnnOffer>& offers);
[[nodiscard]] std::string describe_cudnn_plans(
    const std::vector<std::unique_ptr<CudnnPlan>>& plans);

}  // namespace fusebench
