// Work beside a candidate's: keeps part of the device and of the memory busy until told to stop.
typedef unsigned int u32;
typedef unsigned long long u64;

extern "C" __global__ void load(volatile u32* stop, u32* scratch, u64 words, u64 timeout_ns) {
  u64 start;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  const u64 step = gridDim.x * u64(blockDim.x);
  u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x;
  while (*stop == 0) {
    for (u32 round = 0; round < 16; ++round) {
      scratch[i] += round;
      i = i + step < words ? i + step : i + step - words;
    }
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (now - start > timeout_ns) return;
  }
}
