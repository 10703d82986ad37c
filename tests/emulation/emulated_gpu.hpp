// A Hopper GPU for tests where there is none: the wgmma variants' kernels, compiled for the host, run by fibers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/cuda/cuda_device.hpp"

namespace fusebench::emulation {

/// A change to one of the kernels' sources.
struct SourceEdit {
  std::string file;  ///< in variants/conv_transpose3d_residual
  std::string from;  ///< must be there once
  std::string to;
};

class EmulatedGpu final : public CudaDevice {
 public:
  /// Of so many multiprocessors, a block on each. Keeps compiled kernels in a folder that goes away with it. Throws Error
  /// where `edit` finds nothing to change.
  EmulatedGpu(int processors, std::uint64_t seed, const std::optional<SourceEdit>& edit = {});
  EmulatedGpu(const EmulatedGpu&) = delete;
  EmulatedGpu& operator=(const EmulatedGpu&) = delete;
  ~EmulatedGpu() override;

  [[nodiscard]] const DeviceTraits& traits() const override { return traits_; }
  /// Throws Error with the compiler's messages.
  [[nodiscard]] std::shared_ptr<CudaModule> load(const KernelSpec& spec) override;
  [[nodiscard]] bool has_tensor_maps() const override { return true; }
  [[nodiscard]] TensorMap tensor_map(const TensorBoxes& boxes) override;
  [[nodiscard]] void* stream() const override { return nullptr; }
  [[nodiscard]] std::int64_t launches() const override { return launches_; }
  void count_library_call() override { ++launches_; }

  // Memory and all else is the CPU's.
  [[nodiscard]] Buffer allocate(std::size_t bytes) override { return cpu_->allocate(bytes); }
  void upload(void* to, const void* from, std::size_t bytes) override {
    cpu_->upload(to, from, bytes);
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    cpu_->download(to, from, bytes);
  }
  [[nodiscard]] std::span<const std::byte> host_view(const void* address,
                                                     std::size_t bytes) override {
    return cpu_->host_view(address, bytes);
  }
  [[nodiscard]] std::unique_ptr<Region> make_region(std::size_t bytes,
                                                    bool others_may_write) override {
    return cpu_->make_region(bytes, others_may_write);
  }
  [[nodiscard]] std::unique_ptr<Region> open_region(int descriptor, std::size_t bytes,
                                                    bool writable) override {
    return cpu_->open_region(descriptor, bytes, writable);
  }
  void generate(float* to, std::int64_t count, const InputRecipe& recipe,
                std::uint64_t seed) override {
    cpu_->generate(to, count, recipe, seed);
  }
  void poison(float* to, std::int64_t count, std::uint64_t seed) override {
    cpu_->poison(to, count, seed);
  }
  [[nodiscard]] std::vector<std::uint64_t> fingerprints(
      std::span<const MemoryRange> ranges) override {
    return cpu_->fingerprints(ranges);
  }
  void quiesce() override { cpu_->quiesce(); }
  void synchronise() override { cpu_->synchronise(); }
  void finish_call() override { cpu_->finish_call(); }
  [[nodiscard]] std::unique_ptr<Load> start_load() override { return cpu_->start_load(); }
  [[nodiscard]] std::unique_ptr<Stopwatch> stopwatch() override { return cpu_->stopwatch(); }
  [[nodiscard]] std::vector<Control> controls() override { return {}; }
  [[nodiscard]] std::optional<double> temperature_c() override { return std::nullopt; }

 private:
  std::unique_ptr<Device> cpu_;
  DeviceTraits traits_;
  std::uint64_t seed_;
  std::int64_t launches_ = 0;
  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<CudaModule>> modules_;  // by the compiler's command
  std::vector<std::unique_ptr<TensorBoxes>> boxes_;             // that kernels' arguments refer to
};

}  // namespace fusebench::emulation
