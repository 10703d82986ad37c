// How input channels are shared out to launches of the wgmma kernel. wgmma_pass.cuh is the device's side.
#pragma once

#include <cstdint>
#include <vector>

namespace fusebench::conv_transpose3d_residual {

/// As PASS in wgmma_pass.cuh.
enum class PassKind { only = 0, first = 1, middle = 2, last = 3 };

/// Input channels that one launch multiplies.
struct Pass {
  PassKind kind = PassKind::only;
  std::int64_t first_channel = 0;
  std::int64_t channels = 0;  ///< from 1 to tile_channels
};

/// Beyond these a sum of few taps and many passes might leave the contracts: each pass rounds it once more, and its bound
/// grows as the square root of its products alone (docs/fused_kernel.md).
constexpr std::int64_t most_in_channels = 2048;

/// In the order in which they must run. All are of tile_channels but the last.
[[nodiscard]] std::vector<Pass> passes_of(std::int64_t in_channels);

/// The kinds among them, each once, in order.
[[nodiscard]] std::vector<PassKind> pass_kinds_of(std::int64_t in_channels);

}  // namespace fusebench::conv_transpose3d_residual
