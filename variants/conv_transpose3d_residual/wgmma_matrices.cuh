// How matrices lie in shared memory, swizzled, and the descriptors by which wgmma finds them.
#pragma once

#include "variants/conv_transpose3d_residual/convolution.cuh"

// Rows of 64 bytes whose 16-byte pieces are swizzled: piece p of row r
// stands at p ^ (r / 2 % 4).

__device__ inline u32 swizzled_64(u32 row, u32 byte) {
  return row * 64 + (((byte >> 4) ^ (row >> 1)) & 3) * 16 + (byte & 15);
}
// `leading` and `stride` are the descriptor's two byte offsets, from one core matrix to the next along the
// matrix's contiguous dimension and across it.
__device__ inline u64 matrix_64(u32 address, u32 leading, u32 stride) {
  return u64((address & 0x3FFFF) >> 4) | u64(leading >> 4) << 16 | u64(stride >> 4) << 32 |
         2ULL << 62;
}
// The matrix `bytes` further on.
__device__ inline u64 moved(u64 matrix, u32 bytes) { return matrix + (bytes >> 4); }

// Rows of 128 bytes, 8 rows after 8: piece p of row r stands at p ^ (r % 8). K is contiguous.
__device__ inline u32 swizzled_128(u32 row, u32 byte) {
  return row * 128 + (((byte >> 4) ^ row) & 7) * 16 + (byte & 15);
}
__device__ inline u64 matrix_128(u32 address) {
  return u64((address & 0x3FFFF) >> 4) | 1ULL << 16 | u64(1024 >> 4) << 32 | 1ULL << 62;
}
