// Copy and fill that bypass the caches on the way out, for one thread's range. The ceilings on a CPU.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fusebench {

/// Copies `bytes` bytes with non-temporal stores; ends with a store fence.
void stream_copy(void* to, const void* from, std::size_t bytes) noexcept;
/// Writes `word` over `bytes` bytes (a multiple of 4) with non-temporal stores; ends with a fence.
void stream_fill(void* to, std::uint32_t word, std::size_t bytes) noexcept;

}  // namespace fusebench
