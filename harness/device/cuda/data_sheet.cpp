#include "harness/device/cuda/data_sheet.hpp"

#include <array>
#include <utility>

namespace fusebench {

double data_sheet_gbps(std::string_view device_name) noexcept {
  // The longer name first where one begins with another.
  static constexpr std::array<std::pair<std::string_view, double>, 14> table = {{
      {"NVIDIA B200", 8000},
      {"NVIDIA GH200 144G", 4900},
      {"NVIDIA GH200 480GB", 4000},
      {"NVIDIA H200", 4800},
      {"NVIDIA H100 80GB HBM3", 3350},
      {"NVIDIA H100 NVL", 3900},
      {"NVIDIA H100 PCIe", 2000},
      {"NVIDIA A100-SXM4-80GB", 2039},
      {"NVIDIA A100 80GB PCIe", 1935},
      {"NVIDIA A100-SXM4-40GB", 1555},
      {"NVIDIA A100-PCIE-40GB", 1555},
      {"NVIDIA L40S", 864},
      {"NVIDIA L4", 300},
      {"NVIDIA GeForce RTX 4090", 1008},
  }};
  for (const auto& [name, gbps] : table) {
    if (device_name.starts_with(name)) return gbps;
  }
  return 0.0;
}

}  // namespace fusebench
