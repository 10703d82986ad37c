// Conversions to what tensor cores read, in the place of those by instructions.
#pragma once

#include "tests/emulation/formats.hpp"

typedef unsigned int u32;

inline u32 to_bf16(float lower, float upper) {
  return fusebench::emulation::bf16_of(lower) |
         static_cast<u32>(fusebench::emulation::bf16_of(upper)) << 16;
}
inline u32 to_fp16(float lower, float upper) {
  return fusebench::emulation::fp16_of(lower) |
         static_cast<u32>(fusebench::emulation::fp16_of(upper)) << 16;
}
inline float from_fp16(u32 bits) {
  return fusebench::emulation::float_of_fp16(static_cast<std::uint16_t>(bits));
}
inline u32 to_tf32(float value) { return fusebench::emulation::tf32_of(value); }

inline u32 shared_address(const void* p) {
  return static_cast<u32>(static_cast<const unsigned char*>(p) - fusebench_shared_memory);
}
