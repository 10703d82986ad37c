#include "variants/conv_transpose3d_residual/wgmma_passes.hpp"

#include <algorithm>

#include "variants/conv_transpose3d_residual/wgmma_work.hd.hpp"

namespace fusebench::conv_transpose3d_residual {

std::vector<Pass> passes_of(std::int64_t in_channels) {
  std::vector<Pass> passes;
  for (std::int64_t first = 0; first < in_channels; first += tile_channels) {
    passes.push_back(
        {PassKind::middle, first, std::min<std::int64_t>(tile_channels, in_channels - first)});
  }
  passes.front().kind = PassKind::first;
  passes.back().kind = passes.size() == 1 ? PassKind::only : PassKind::last;
  return passes;
}

std::vector<PassKind> pass_kinds_of(std::int64_t in_channels) {
  if (in_channels <= tile_channels) return {PassKind::only};
  if (in_channels <= 2 * std::int64_t{tile_channels}) return {PassKind::first, PassKind::last};
  return {PassKind::first, PassKind::middle, PassKind::last};
}

}  // namespace fusebench::conv_transpose3d_residual
