// Temperature and clock policy from NVML, where the driver brings it.
#pragma once

#include <optional>
#include <string>

namespace fusebench {

class Nvml {
 public:
  /// `pci_bus_id` as cuDeviceGetPCIBusId gives it. Never throws: without NVML all answers are empty.
  explicit Nvml(const std::string& pci_bus_id);

  [[nodiscard]] std::optional<double> temperature_c() const;
  /// "default", "application 1500 MHz" where someone set an application clock, or "unknown".
  [[nodiscard]] std::string clock_policy() const;
  /// "580.159.04"; empty where NVML does not tell.
  [[nodiscard]] std::string driver_version() const;

 private:
  void* device_ = nullptr;
};

}  // namespace fusebench
