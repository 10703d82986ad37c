#include "harness/device/cuda/nvml.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "harness/core/error.hpp"
#include "harness/device/cuda/dynamic_library.hpp"

namespace fusebench {
namespace {

// nvml.h is not part of every CUDA installation; these six have not changed since NVML 5.
constexpr unsigned success = 0;
constexpr unsigned gpu_sensor = 0;
constexpr unsigned sm_clock = 1;
using Device = void*;

struct NvmlApi {
  static const NvmlApi* get() {
    static const std::optional<NvmlApi> api = open();
    return api ? &*api : nullptr;
  }

  DynamicLibrary library;
  unsigned (*init)() = library.symbol<unsigned (*)()>("nvmlInit_v2");
  unsigned (*by_bus_id)(const char*, Device*) =
      library.symbol<unsigned (*)(const char*, Device*)>("nvmlDeviceGetHandleByPciBusId_v2");
  unsigned (*temperature)(Device, unsigned, unsigned*) =
      library.symbol<unsigned (*)(Device, unsigned, unsigned*)>("nvmlDeviceGetTemperature");
  unsigned (*application_clock)(Device, unsigned, unsigned*) =
      library.symbol<unsigned (*)(Device, unsigned, unsigned*)>("nvmlDeviceGetApplicationsClock");
  unsigned (*default_clock)(Device, unsigned, unsigned*) =
      library.symbol<unsigned (*)(Device, unsigned, unsigned*)>(
          "nvmlDeviceGetDefaultApplicationsClock");
  unsigned (*driver_version)(char*, unsigned) =
      library.symbol<unsigned (*)(char*, unsigned)>("nvmlSystemGetDriverVersion");

 private:
  static std::optional<NvmlApi> open() {
    static const std::array<std::string, 2> names = {"libnvidia-ml.so.1",
                                                     "/usr/local/nvidia/lib64/libnvidia-ml.so.1"};
    try {
      NvmlApi api{.library = DynamicLibrary("NVML", names)};
      if (api.init() == success) return api;
    } catch (const Unavailable&) {
    }
    return std::nullopt;
  }
};

}  // namespace

Nvml::Nvml(const std::string& pci_bus_id) {
  if (const NvmlApi* api = NvmlApi::get()) {
    if (api->by_bus_id(pci_bus_id.c_str(), &device_) != success) device_ = nullptr;
  }
}

std::optional<double> Nvml::temperature_c() const {
  unsigned degrees = 0;
  if (device_ == nullptr || NvmlApi::get()->temperature(device_, gpu_sensor, &degrees) != success) {
    return std::nullopt;
  }
  return degrees;
}

std::string Nvml::clock_policy() const {
  unsigned set = 0;
  unsigned normal = 0;
  if (device_ == nullptr || NvmlApi::get()->application_clock(device_, sm_clock, &set) != success ||
      NvmlApi::get()->default_clock(device_, sm_clock, &normal) != success) {
    return "unknown";
  }
  return set == normal ? "default" : fmt::format("application {} MHz", set);
}

std::string Nvml::driver_version() const {
  std::array<char, 96> text{};
  if (device_ == nullptr ||
      NvmlApi::get()->driver_version(text.data(), static_cast<unsigned>(text.size())) != success) {
    return "";
  }
  return text.data();
}

}  // namespace fusebench
