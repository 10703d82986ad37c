// The host's side of wgmma_work.hd.hpp: a problem's tiles, shared out to blocks.
#pragma once

#include <cstdint>

#include "reference/conv_transpose3d.hpp"
#include "variants/conv_transpose3d_residual/wgmma_work.hd.hpp"

namespace fusebench::conv_transpose3d_residual {

/// The tiles, not yet shared out. Throws Unavailable when they are more than the kernel counts.
[[nodiscard]] Tiles tiles_of(const ConvTranspose3d& sizes);

/// To so many blocks of a kind: about `runs` runs a block, and at the end about `singles` items a block singly. Were
/// runs longer, blocks that got one more would end late; were they shorter, more planes would be read twice.
void share_out(Tiles& tiles, std::int64_t blocks, std::int64_t runs, std::int64_t singles);

}  // namespace fusebench::conv_transpose3d_residual
