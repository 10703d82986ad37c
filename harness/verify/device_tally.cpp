#include "harness/verify/device_tally.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "harness/device/cuda/cuda_device.hpp"

namespace fusebench {
namespace {

constexpr std::int64_t threads = 256;  // of a block, as in kernels/tally.cu
constexpr std::int64_t blocks_per_multiprocessor = 8;

// These cross the border between host and device as bytes.
static_assert(std::is_trivially_copyable_v<AcceptanceRule>);
static_assert(std::is_trivially_copyable_v<Tally>);
static_assert(std::is_trivially_copyable_v<OracleArguments>);

class CudaTally final : public DeviceTally {
 public:
  CudaTally(const std::string& oracle, CudaDevice& device)
      : device_(&device),
        module_(device.load(tally_kernel(oracle))),
        kernel_(module_->kernel("tally")),
        parts_(static_cast<std::size_t>(blocks_per_multiprocessor * device.traits().processors)),
        partial_(device.allocate(parts_.size() * sizeof(Tally))) {}

  Tally count(const float* got, std::int64_t count, const OracleArguments& arguments,
              const AcceptanceRule& rule, std::uint64_t poison_seed) override {
    const auto most = static_cast<std::int64_t>(parts_.size());
    const auto blocks = std::clamp<std::int64_t>((count + threads - 1) / threads, 1, most);
    kernel_->launch({.blocks = static_cast<std::uint32_t>(blocks), .threads = threads}, got,
                    static_cast<std::uint64_t>(count), arguments, rule, poison_seed,
                    partial_.address());
    const auto used = static_cast<std::size_t>(blocks);
    device_->download(parts_.data(), partial_.address(), used * sizeof(Tally));
    Tally total;
    for (std::size_t i = 0; i < used; ++i) merge(total, parts_[i]);
    return total;
  }

 private:
  CudaDevice* device_;
  std::shared_ptr<CudaModule> module_;
  std::unique_ptr<CudaKernel> kernel_;
  std::vector<Tally> parts_;
  Buffer partial_;
};

}  // namespace

KernelSpec tally_kernel(const std::string& oracle) {
  return {.source = "harness/verify/kernels/tally.cu", .macros = {{"ORACLE", '"' + oracle + '"'}}};
}

std::unique_ptr<DeviceTally> make_device_tally(const Operator& op, Device& device) {
  if (op.device_oracle().empty() || device.traits().kind != DeviceKind::cuda) return nullptr;
  return std::make_unique<CudaTally>(op.device_oracle(), cuda_device(device));
}

}  // namespace fusebench
