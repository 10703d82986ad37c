// Instructions of the tensor cores, sm_80 and later, and conversions to the formats that they read.
#pragma once

typedef unsigned int u32;

// Four 8 x 8 matrices of 16-bit elements, or 8 x 4 of 32-bit ones, from shared memory: lane l gives the address
// of row l % 8 of matrix l / 8, 16 bytes each, and gets of each matrix row l / 4's l % 4-th 32 bits.
__device__ inline uint4 load_matrices(u32 address) {
  uint4 m;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m.x), "=r"(m.y), "=r"(m.z), "=r"(m.w)
               : "r"(address)
               : "memory");
  return m;
}

// sum[16 x 8] += a[16 x 16] b[16 x 8] in bfloat16; FROM_ZERO, whatever the sum was is forgotten.
template <bool FROM_ZERO>
__device__ inline void multiply_bf16(float (&sum)[4], const uint4& a, u32 b0, u32 b1) {
  if (FROM_ZERO) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%10, %10, %10, %10};"
        : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1), "f"(0.0f));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
  }
}

// sum[16 x 8] += a[16 x 8] b[8 x 8] in TF32.
template <bool FROM_ZERO>
__device__ inline void multiply_tf32(float (&sum)[4], const uint4& a, u32 b0, u32 b1) {
  if (FROM_ZERO) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%10, %10, %10, %10};"
        : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1), "f"(0.0f));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
  }
}

// Two floats to the nearest bfloat16, the first in the lower half.
__device__ inline u32 to_bf16(float lower, float upper) {
  u32 both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(upper), "f"(lower));
  return both;
}

// And to the nearest fp16; infinite beyond 65519.
__device__ inline u32 to_fp16(float lower, float upper) {
  u32 both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(upper), "f"(lower));
  return both;
}
// The fp16 in the lower half of a word.
__device__ inline float from_fp16(u32 bits) {
  float value;
  asm("{ .reg .b16 h;\n cvt.u16.u32 h, %1;\n cvt.f32.f16 %0, h; }" : "=f"(value) : "r"(bits));
  return value;
}

// To the nearest TF32, as a float whose last 13 bits are 0.
__device__ inline u32 to_tf32(float value) {
  u32 rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
  return rounded & 0xFFFFE000u;
}

__device__ inline u32 shared_address(const void* p) { return u32(__cvta_generic_to_shared(p)); }
