#include "harness/device/cuda/cuda_module.hpp"

#include "harness/core/error.hpp"
#include "harness/device/cuda/driver_api.hpp"

namespace fusebench {
namespace {

class DriverKernel final : public CudaKernel {
 public:
  DriverKernel(CUfunction function, CUstream stream, std::int64_t& launches)
      : function_(function), stream_(stream), launches_(&launches) {}

  int blocks_per_multiprocessor(std::uint32_t threads,
                                std::uint32_t dynamic_shared_bytes) override {
    allow(dynamic_shared_bytes);
    int blocks = 0;
    FUSEBENCH_CUDA(OccupancyMaxActiveBlocksPerMultiprocessor, &blocks, function_,
                   static_cast<int>(threads), dynamic_shared_bytes);
    return blocks;
  }

 private:
  void launch_with(void* stream, const LaunchShape& shape, const void* const* args) override {
    CUstream const on = stream == nullptr ? stream_ : static_cast<CUstream>(stream);
    allow(shape.dynamic_shared_bytes);
    // The driver takes void** but only reads.
    auto* const arguments = const_cast<void**>(args);
    if (shape.cooperative) {
      FUSEBENCH_CUDA(LaunchCooperativeKernel, function_, shape.blocks, 1, 1, shape.threads, 1, 1,
                     shape.dynamic_shared_bytes, on, arguments);
    } else if (shape.overlapping) {
      CUlaunchAttribute attribute{};
      attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      attribute.value.programmaticStreamSerializationAllowed = 1;
      const CUlaunchConfig config = {.gridDimX = shape.blocks,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = shape.threads,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .sharedMemBytes = shape.dynamic_shared_bytes,
                                     .hStream = on,
                                     .attrs = &attribute,
                                     .numAttrs = 1};
      FUSEBENCH_CUDA(LaunchKernelEx, &config, function_, arguments, nullptr);
    } else {
      FUSEBENCH_CUDA(LaunchKernel, function_, shape.blocks, 1, 1, shape.threads, 1, 1,
                     shape.dynamic_shared_bytes, on, arguments, nullptr);
    }
    ++*launches_;
  }

  void allow(std::uint32_t dynamic_shared_bytes) {
    if (dynamic_shared_bytes <= allowed_) return;
    FUSEBENCH_CUDA(FuncSetAttribute, function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                   static_cast<int>(dynamic_shared_bytes));
    allowed_ = dynamic_shared_bytes;
  }

  CUfunction function_;
  CUstream stream_;
  std::int64_t* launches_;
  std::uint32_t allowed_ = 0;  // asked for each time: what is free of it depends on the static part
};

class DriverModule final : public CudaModule {
 public:
  DriverModule(CUmodule module, CUstream stream, std::int64_t& launches)
      : module_(module), stream_(stream), launches_(&launches) {}
  ~DriverModule() override { (void)driver().ModuleUnload(module_); }
  DriverModule(const DriverModule&) = delete;
  DriverModule& operator=(const DriverModule&) = delete;

  std::unique_ptr<CudaKernel> kernel(const std::string& name) override {
    CUfunction function = nullptr;
    FUSEBENCH_CUDA(ModuleGetFunction, &function, module_, name.c_str());
    return std::make_unique<DriverKernel>(function, stream_, *launches_);
  }

 private:
  CUmodule module_;
  CUstream stream_;
  std::int64_t* launches_;
};

}  // namespace

std::unique_ptr<CudaModule> load_cuda_module(const std::string& cubin, CUstream stream,
                                             std::int64_t& launches) {
  CUmodule module = nullptr;
  FUSEBENCH_CUDA(ModuleLoadData, &module, cubin.data());
  return std::make_unique<DriverModule>(module, stream, launches);
}

}  // namespace fusebench
