// A block of CUDA threads on the host, for tests of kernels where there is no GPU: each thread a fiber, the block an
// operating-system thread, and in it what threads meet at and what goes on beside them. Which fiber runs next, and when what
// is asynchronous happens, is random: whatever no barrier orders comes in any order.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace fusebench::emulation {

struct Index {
  unsigned x = 0;
  unsigned y = 0;
  unsigned z = 0;
};

inline constexpr unsigned shared_bytes = 227 * 1024;
inline constexpr unsigned warp_threads = 32;

// What the running fiber sees.
extern constinit thread_local Index thread_index;
extern constinit thread_local Index block_index;
extern constinit thread_local Index grid_extent;

}  // namespace fusebench::emulation

// The name that kernels declare, in no namespace.
extern constinit thread_local unsigned char
    fusebench_shared_memory[fusebench::emulation::shared_bytes];

namespace fusebench::emulation {

class HostBlock {
 public:
  /// `threads`: a multiple of 32.
  HostBlock(unsigned threads, std::uint64_t seed);
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;
  ~HostBlock();

  /// Runs `kernel` by every thread of the block. Throws Error where threads wait for ever, where something asynchronous
  /// outlives the block, or with what fail() was told.
  void run(const std::function<void()>& kernel);

  /// Of the fiber that calls this; what follows is for such fibers.
  [[nodiscard]] static HostBlock& current();

  [[nodiscard]] unsigned threads() const noexcept { return threads_; }
  [[noreturn]] void fail(const std::string& what);
  /// Lets others run until `ready()`.
  void wait_until(const char* what, std::function<bool()> ready);
  /// Lets others run, while it waits for one of them.
  void sleep();
  /// Lets others run, now and then.
  void dawdle();
  [[nodiscard]] bool toss() { return random_() % 2 == 0; }
  /// To be done at some time from now on, by nobody in particular.
  void later(std::function<void()> work) { pending_.push_back(std::move(work)); }

  /// Each lane's word, once all 32 of the warp have given theirs to the same `what`.
  [[nodiscard]] const std::array<std::uint64_t, warp_threads>& exchange(const char* what,
                                                                        std::uint64_t word);
  /// Waits for `threads` threads at barrier `id`; whether it is so for any.
  bool named_barrier(unsigned id, unsigned threads, bool here);

  // mbarrier, by shared address.
  void barrier_init(unsigned barrier, unsigned arrivals);
  void barrier_arrive(unsigned barrier, unsigned bytes_to_come = 0);
  void barrier_complete(unsigned barrier, unsigned bytes);
  void barrier_wait(unsigned barrier, unsigned parity);

  /// The running thread wrote these bytes, which tensor cores see once it has published them.
  void wrote(unsigned address, unsigned bytes);
  void publish();
  /// An asynchronous copy to these bytes goes on between the two.
  void copy_begins(unsigned address, unsigned bytes);
  void copy_ends(unsigned address, unsigned bytes);
  /// Fails where a copy is under way; or, for tensor cores, where a thread wrote the word there and has not published it.
  void require_arrived(unsigned address);
  void require_published(unsigned address);

 private:
  struct Fiber {
    ucontext_t context{};
    const char* waits_for = "";
    std::function<bool()> ready;
    bool done = false;
    bool sleeps = false;
    unsigned away = 0;                  // so many rounds more
    std::vector<unsigned> unpublished;  // words
  };
  struct Warp {
    std::array<std::array<std::uint64_t, warp_threads>, 2> words{};
    const char* what = nullptr;
    unsigned arrived = 0;
    unsigned generation = 0;
  };
  struct NamedBarrier {
    unsigned arrived = 0;
    unsigned generation = 0;
    std::array<bool, 2> any{};
  };
  struct Mbarrier {
    unsigned arrivals = 0;
    unsigned pending = 0;
    std::int64_t bytes_to_come = 0;
    unsigned phase = 0;
  };

  void prepare_fibers();
  void resume(unsigned thread);
  void run_pending();
  [[nodiscard]] std::string who_waits() const;
  Mbarrier& mbarrier(unsigned barrier);
  void end_phase_if_complete(Mbarrier& barrier) const;

  unsigned threads_;
  std::mt19937_64 random_;
  unsigned slowness_;
  std::function<void()> kernel_;
  ucontext_t scheduler_{};
  std::vector<Fiber> fibers_;
  void* stacks_ = nullptr;
  unsigned running_ = 0;
  std::optional<std::string> failure_;
  std::vector<std::function<void()>> pending_;
  std::vector<Warp> warps_;
  std::array<NamedBarrier, 16> named_;
  std::map<unsigned, Mbarrier> mbarriers_;
  std::vector<std::uint16_t>
      writer_;  // of each word of shared memory: a thread, plus 1, that has not published it, or a copy
};

}  // namespace fusebench::emulation
