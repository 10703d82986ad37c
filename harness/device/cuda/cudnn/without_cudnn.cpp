// Stands in for cuDNN in a build made without its headers.
#include "harness/core/error.hpp"
#include "harness/device/cuda/cudnn/cudnn_graph.hpp"

namespace fusebench {
namespace {

constexpr const char* reason = "this build has no cuDNN: cudnn.h or cudnn_frontend.h was not "
                               "found, or FUSEBENCH_CUDNN was OFF; "
                               "run scripts/setup, or see docs/cudnn.md, and build again";

}  // namespace

std::optional<std::string> cudnn_missing() { return reason; }
std::unique_ptr<CudnnGraph> make_cudnn_graph(CudaDevice&, const CudnnDescription&, CudnnMath) {
  throw Unavailable(reason);
}
std::vector<CudnnOffer> cudnn_offers(const std::string&, const CudnnDescription&, CudnnMath) {
  throw Unavailable(reason);
}
std::string cudnn_version() { throw Unavailable(reason); }

}  // namespace fusebench
