// The first CUDA device, through the driver API.
#include "harness/device/cuda/cuda_device.hpp"

#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

#include "harness/core/error.hpp"
#include "harness/core/generator.hd.hpp"
#include "harness/device/cuda/compiler.hpp"
#include "harness/device/cuda/cuda_load.hpp"
#include "harness/device/cuda/cuda_module.hpp"
#include "harness/device/cuda/cuda_region.hpp"
#include "harness/device/cuda/cuda_stopwatch.hpp"
#include "harness/device/cuda/data_sheet.hpp"
#include "harness/device/cuda/device_kernels.hpp"
#include "harness/device/cuda/driver_api.hpp"
#include "harness/device/cuda/nvml.hpp"
#include "harness/device/fma_control.hpp"

namespace fusebench {
namespace {

int attribute(CUdevice_attribute which) {
  int value = 0;
  FUSEBENCH_CUDA(DeviceGetAttribute, &value, which, 0);
  return value;
}

std::string pci_bus_id() {
  std::array<char, 32> text{};
  FUSEBENCH_CUDA(DeviceGetPCIBusId, text.data(), static_cast<int>(text.size()), 0);
  return text.data();
}

// Twice the memory clock (both edges) times the bus; kHz and bits as the driver gives them.
double peak_from_attributes() {
  const double khz = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  const double bits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  return 2.0 * khz * 1e3 * bits / 8.0 / 1e9;
}

DeviceTraits read_traits(const Nvml& nvml) {
  DeviceTraits traits;
  traits.kind = DeviceKind::cuda;
  std::array<char, 128> name{};
  FUSEBENCH_CUDA(DeviceGetName, name.data(), static_cast<int>(name.size()), 0);
  traits.name = name.data();
  int version = 0;
  FUSEBENCH_CUDA(DriverGetVersion, &version);
  const std::string release = nvml.driver_version();
  traits.driver = fmt::format("{} (CUDA {}.{})", release.empty() ? "unknown" : release,
                              version / 1000, version % 1000 / 10);
  try {
    traits.toolkit = compiler_version();
  } catch (const Unavailable&) {
    traits.toolkit = "none";
  }
  traits.clock_policy = nvml.clock_policy();
  traits.processors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  traits.cache_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  std::size_t memory = 0;
  FUSEBENCH_CUDA(DeviceTotalMem, &memory, 0);
  traits.memory_bytes = static_cast<std::int64_t>(memory);
  traits.shared_memory_bytes = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  const double sheet = data_sheet_gbps(traits.name);
  traits.peak_gbps = sheet > 0 ? sheet : peak_from_attributes();
  traits.nominal_clock_mhz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1e3;
  const int number = 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                     attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  traits.architecture = Architecture{.number = number, .specific = number >= 90};
  traits.sharing_refused = cuda_sharing_refused().value_or("");
  return traits;
}

class HardwareDevice final : public CudaDevice {
 public:
  explicit HardwareDevice(const DeviceOptions& options)
      : nvml_(pci_bus_id()), traits_(read_traits(nvml_)), kernel_folder_(options.kernel_folder) {
    (void)compiler_version();  // throws with the reason where kernels cannot be compiled
    CUcontext context = nullptr;
    FUSEBENCH_CUDA(DevicePrimaryCtxRetain, &context, 0);
    FUSEBENCH_CUDA(CtxSetCurrent, context);
    FUSEBENCH_CUDA(StreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
    memory_ = load(memory_kernels());
    generate_ = memory_->kernel("generate");
    poison_ = memory_->kernel("poison");
    fingerprint_ = memory_->kernel("fingerprint");
  }

  const DeviceTraits& traits() const override { return traits_; }

  bool has_tensor_maps() const override { return have_tensor_maps(); }
  TensorMap tensor_map(const TensorBoxes& boxes) override { return fusebench::tensor_map(boxes); }

  Buffer allocate(std::size_t bytes) override {
    CUdeviceptr address = 0;
    FUSEBENCH_CUDA(MemAlloc, &address, bytes == 0 ? 1 : bytes);
    return {reinterpret_cast<void*>(address), bytes,
            [](void* p) { (void)driver().MemFree(reinterpret_cast<CUdeviceptr>(p)); }};
  }

  void upload(void* to, const void* from, std::size_t bytes) override {
    synchronise();
    FUSEBENCH_CUDA(MemcpyHtoD, reinterpret_cast<CUdeviceptr>(to), from, bytes);
    FUSEBENCH_CUDA(CtxSynchronize);  // our stream does not wait for the default one
  }

  void download(void* to, const void* from, std::size_t bytes) override {
    synchronise();
    FUSEBENCH_CUDA(MemcpyDtoH, to, reinterpret_cast<CUdeviceptr>(from), bytes);
  }

  std::span<const std::byte> host_view(const void* address, std::size_t bytes) override {
    if (staging_.bytes() < bytes) {
      staging_ = {};
      void* host = nullptr;
      FUSEBENCH_CUDA(MemHostAlloc, &host, bytes, 0);
      staging_ = {host, bytes, [](void* p) { (void)driver().MemFreeHost(p); }};
    }
    download(staging_.address(), address, bytes);
    return {static_cast<const std::byte*>(staging_.address()), bytes};
  }

  std::unique_ptr<Region> make_region(std::size_t bytes, bool) override {
    return make_cuda_region(bytes);  // whoever opens it chooses, and the driver does not tell
  }
  std::unique_ptr<Region> open_region(int descriptor, std::size_t bytes, bool writable) override {
    return open_cuda_region(descriptor, bytes, writable);
  }

  void generate(float* to, std::int64_t count, const InputRecipe& recipe,
                std::uint64_t seed) override {
    generate_->launch(cover(count), to, static_cast<std::uint64_t>(count), stream_of(seed, recipe),
                      recipe);
  }

  void poison(float* to, std::int64_t count, std::uint64_t seed) override {
    poison_->launch(cover(count), to, static_cast<std::uint64_t>(count), seed);
  }

  std::vector<std::uint64_t> fingerprints(std::span<const MemoryRange> ranges) override {
    std::vector<std::uint64_t> sums(ranges.size());
    const std::size_t bytes = sums.size() * sizeof(std::uint64_t);
    if (sums_.bytes() < bytes) sums_ = allocate(bytes);
    FUSEBENCH_CUDA(MemsetD8Async, reinterpret_cast<CUdeviceptr>(sums_.address()), 0, bytes,
                   stream_);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const auto words = static_cast<std::int64_t>(ranges[i].bytes / 4);
      fingerprint_->launch(cover(words), ranges[i].address, static_cast<std::uint64_t>(words),
                           static_cast<std::uint64_t*>(sums_.address()) + i);
    }
    finish_call();  // and not for what else may run
    FUSEBENCH_CUDA(MemcpyDtoH, sums.data(), reinterpret_cast<CUdeviceptr>(sums_.address()), bytes);
    return sums;
  }

  void quiesce() override { synchronise(); }
  void synchronise() override { FUSEBENCH_CUDA(CtxSynchronize); }

  void finish_call() override { FUSEBENCH_CUDA(StreamSynchronize, stream_); }

  std::unique_ptr<Load> start_load() override {
    if (!loads_) loads_ = std::make_unique<CudaLoads>(*this);
    return loads_->start();
  }

  std::unique_ptr<Stopwatch> stopwatch() override {
    return std::make_unique<CudaStopwatch>(
        *this, stream_, allocate(static_cast<std::size_t>(2 * traits_.cache_bytes)));
  }

  std::vector<Control> controls() override;

  std::optional<double> temperature_c() override { return nvml_.temperature_c(); }

  std::shared_ptr<CudaModule> load(const KernelSpec& spec) override {
    const auto same = [&](const auto& kept) { return kept.first == spec; };
    const auto kept = std::find_if(loaded_.begin(), loaded_.end(), same);
    if (kept != loaded_.end()) return kept->second;
    const CompiledKernel compiled = compile_kernel(spec, *traits_.architecture, kernel_folder_);
    if (loaded_.size() == most_loaded) loaded_.pop_front();
    return loaded_.emplace_back(spec, load_cuda_module(compiled.cubin, stream_, launches_)).second;
  }

  void* stream() const override { return stream_; }
  std::int64_t launches() const override { return launches_; }
  void count_library_call() override { ++launches_; }

 private:
  // A grid-stride loop's grid: no more blocks than work, no more than fill the device.
  [[nodiscard]] LaunchShape cover(std::int64_t items) const {
    constexpr std::int64_t threads = 256;
    const std::int64_t most = std::int64_t{8} * traits_.processors;
    const std::int64_t blocks = std::clamp<std::int64_t>((items + threads - 1) / threads, 1, most);
    return {.blocks = static_cast<std::uint32_t>(blocks), .threads = threads};
  }

  Nvml nvml_;
  DeviceTraits traits_;
  std::string kernel_folder_;
  CUstream stream_ = nullptr;
  std::int64_t launches_ = 0;
  // A variant's cases and the harness's kernels come again and again; a search's configurations do not.
  static constexpr std::size_t most_loaded = 16;
  std::deque<std::pair<KernelSpec, std::shared_ptr<CudaModule>>> loaded_;
  std::shared_ptr<CudaModule> memory_, controls_;
  std::unique_ptr<CudaKernel> generate_, poison_, fingerprint_, copy_, fill_, fma_;
  std::unique_ptr<CudaLoads> loads_;
  Buffer sums_;
  Buffer staging_;
};

std::vector<Control> HardwareDevice::controls() {
  controls_ = load(control_kernels());
  copy_ = controls_->kernel("copy");
  fill_ = controls_->kernel("fill");
  fma_ = controls_->kernel("fma_chains");
  const auto shape = [](std::size_t bytes, std::int64_t threads, std::int64_t items) {
    return LaunchShape{.blocks = blocks_for(static_cast<std::int64_t>(bytes / 16), threads * items),
                       .threads = static_cast<std::uint32_t>(threads)};
  };
  // The kernels move whole float4s; the last 0 to 12 bytes go by the driver's own calls.
  const auto copy_engine = [stream = stream_](void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    FUSEBENCH_CUDA(MemcpyDtoDAsync, reinterpret_cast<CUdeviceptr>(to),
                   reinterpret_cast<CUdeviceptr>(from), bytes, stream);
  };
  return {
      {"copy", "float4, 128 threads, one access a thread", 2, 0,
       [this, shape, copy_engine](void* to, const void* from, std::size_t bytes) {
         const std::size_t whole = bytes / 16 * 16;
         copy_->launch(shape(whole, copy_block, 1), to, from,
                       static_cast<std::uint64_t>(whole / 16));
         copy_engine(static_cast<std::byte*>(to) + whole,
                     static_cast<const std::byte*>(from) + whole, bytes - whole);
       }},
      {"memcpy", "cuMemcpyDtoDAsync", 2, 0, copy_engine},
      {"fill", "float4, 256 threads, four stores a thread", 1, 0,
       [this, shape](void* to, const void*, std::size_t bytes) {
         const std::size_t whole = bytes / 16 * 16;
         float word = 0.0F;
         std::memcpy(&word, &fill_word, sizeof word);
         fill_->launch(shape(whole, fill_block, fill_items), to, word,
                       static_cast<std::uint64_t>(whole / 16));
         if (bytes == whole) return;
         FUSEBENCH_CUDA(MemsetD32Async, reinterpret_cast<CUdeviceptr>(to) + whole, fill_word,
                        (bytes - whole) / 4, stream_);
       }},
      {"fma", "float32 FMAs, 256 threads, four chains a thread", 2, 2 * fma_steps,
       [this, shape, copy_engine](void* to, const void* from, std::size_t bytes) {
         const std::size_t whole = bytes / 16 * 16;
         const FmaOperands by;
         fma_->launch(shape(whole, fma_block, 1), to, from, by.up, by.down, by.nothing,
                      static_cast<std::uint64_t>(whole / 16));
         copy_engine(static_cast<std::byte*>(to) + whole,
                     static_cast<const std::byte*>(from) + whole, bytes - whole);
       }},
  };
}

}  // namespace

DeviceStatus probe_cuda() {
  try {
    int count = 0;
    FUSEBENCH_CUDA(DeviceGetCount, &count);
    if (count == 0) return {std::nullopt, "the NVIDIA driver finds no GPU"};
    (void)compiler_version();
    return {read_traits(Nvml(pci_bus_id())), ""};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

std::unique_ptr<Device> open_cuda(const DeviceOptions& options) {
  int count = 0;
  FUSEBENCH_CUDA(DeviceGetCount, &count);
  if (count == 0) throw Unavailable("the NVIDIA driver finds no GPU");
  return std::make_unique<HardwareDevice>(options);
}

}  // namespace fusebench
