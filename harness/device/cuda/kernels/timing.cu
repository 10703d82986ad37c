// Kernels of the stopwatch: one that holds the stream until the host lets go, one that reads the
// multiprocessor's clock.
typedef unsigned int u32;
typedef unsigned long long u64;

__device__ inline u64 global_ns() {
  u64 ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

// Spins until the host sets *release, so that everything behind it is queued before any of it runs
// and launch overhead stays out of the time. A call that itself waits for the device would wait for
// ever; after timeout_ns the kernel lets go and says so.
extern "C" __global__ void hold(volatile u32* release, volatile u32* timed_out, u64 timeout_ns) {
  const u64 start = global_ns();
  while (*release == 0) {
    if (global_ns() - start > timeout_ns) {
      *timed_out = 1;
      return;
    }
  }
}

// Cycles and nanoseconds between two ticks of the global timer at least `window_ns` apart: the timer
// ticks coarsely, so both ends wait for an edge.
extern "C" __global__ void read_clock(volatile u64* cycles, volatile u64* elapsed_ns,
                                      u64 window_ns) {
  u64 start = global_ns();
  const u64 before = start;
  while ((start = global_ns()) == before) {
  }
  const u64 first = clock64();
  u64 now = start;
  u64 last_tick = start;
  u64 last = first;
  while (last_tick - start < window_ns) {
    now = global_ns();
    if (now != last_tick) {
      last = clock64();
      last_tick = now;
    }
  }
  *cycles = last - first;
  *elapsed_ns = last_tick - start;
}
