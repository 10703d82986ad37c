// Division by a number known at launch; the host's side is FastDivisor in cuda_device.hpp.
#pragma once

struct FastDivisor {
  unsigned long long divisor;
  unsigned long long magic;
  unsigned int narrow;

  // Exact for n < 2^63. With m = floor((2^b - 1) / d), n m / 2^b > n / d - 1/2 for n < 2^(b-1), so its
  // floor is short by at most one. 32 bits take a quarter of the instructions of 64, and suffice for
  // most tensors.
  __device__ unsigned long long quotient(unsigned long long n) const {
    if (narrow != 0 && n >> 31 == 0) {
      const unsigned int d = static_cast<unsigned int>(divisor);
      const unsigned int m = static_cast<unsigned int>(n);
      const unsigned int q = __umulhi(m, narrow);
      return q + (m - q * d >= d);
    }
    const unsigned long long q = __umul64hi(n, magic);
    return q + (n - q * divisor >= divisor);
  }
  __device__ unsigned long long remainder(unsigned long long n) const {
    return n - quotient(n) * divisor;
  }
};
