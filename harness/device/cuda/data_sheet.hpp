// Memory bandwidth by the vendor's data sheet, for the GPUs whose name we know.
#pragma once

#include <string_view>

namespace fusebench {

/// 10^9 bytes per second; 0 where the name is not in the table. The sources are NVIDIA's product
/// briefs; the driver's clock times bus width is used elsewhere and may differ by a few percent.
[[nodiscard]] double data_sheet_gbps(std::string_view device_name) noexcept;

}  // namespace fusebench
