#include "harness/device/cuda/cuda_module.hpp"

#include "harness/core/error.hpp"
#include "harness/device/cuda/driver_api.hpp"

namespace fusebench {
namespace {

class DriverKernel final : public CudaKernel {
 public:
  DriverKernel(CUfunction function, CUstream stream) : function_(function), stream_(stream) {}

  int blocks_per_multiprocessor(std::uint32_t threads,
                                std::uint32_t dynamic_shared_bytes) override {
    allow(dynamic_shared_bytes);
    int blocks = 0;
    FUSEBENCH_CUDA(OccupancyMaxActiveBlocksPerMultiprocessor, &blocks, function_,
                   static_cast<int>(threads), dynamic_shared_bytes);
    return blocks;
  }

 private:
  void launch_with(const LaunchShape& shape, const void* const* args) override {
    allow(shape.dynamic_shared_bytes);
    // The driver takes void** but only reads.
    FUSEBENCH_CUDA(LaunchKernel, function_, shape.blocks, 1, 1, shape.threads, 1, 1,
                   shape.dynamic_shared_bytes, stream_, const_cast<void**>(args), nullptr);
  }

  void allow(std::uint32_t dynamic_shared_bytes) {
    if (dynamic_shared_bytes <= allowed_) return;
    FUSEBENCH_CUDA(FuncSetAttribute, function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                   static_cast<int>(dynamic_shared_bytes));
    allowed_ = dynamic_shared_bytes;
  }

  CUfunction function_;
  CUstream stream_;
  std::uint32_t allowed_ = 0;  // asked for each time: what is free of it depends on the static part
};

class DriverModule final : public CudaModule {
 public:
  DriverModule(CUmodule module, CUstream stream) : module_(module), stream_(stream) {}
  ~DriverModule() override { (void)driver().ModuleUnload(module_); }
  DriverModule(const DriverModule&) = delete;
  DriverModule& operator=(const DriverModule&) = delete;

  std::unique_ptr<CudaKernel> kernel(const std::string& name) override {
    CUfunction function = nullptr;
    FUSEBENCH_CUDA(ModuleGetFunction, &function, module_, name.c_str());
    return std::make_unique<DriverKernel>(function, stream_);
  }

 private:
  CUmodule module_;
  CUstream stream_;
};

}  // namespace

std::unique_ptr<CudaModule> load_cuda_module(const std::string& cubin, CUstream stream) {
  CUmodule module = nullptr;
  FUSEBENCH_CUDA(ModuleLoadData, &module, cubin.data());
  return std::make_unique<DriverModule>(module, stream);
}

}  // namespace fusebench
