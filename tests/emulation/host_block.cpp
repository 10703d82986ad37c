#include "tests/emulation/host_block.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "harness/core/error.hpp"

alignas(1024) constinit thread_local unsigned char fusebench_shared_memory
    [fusebench::emulation::shared_bytes] = {};

namespace fusebench::emulation {

constinit thread_local Index thread_index;
constinit thread_local Index block_index;
constinit thread_local Index grid_extent;

namespace {

constexpr std::size_t stack_bytes = 128UL * 1024;
constexpr std::uint16_t copy_under_way = 0xFFFF;  // in the place of a writing thread
// In how many steps of a thread one copy comes: at once, or hardly before everybody waits for it.
constexpr std::array<unsigned, 4> slownesses = {8, 4096, 1'000'000, 1'000'000};
constexpr int most_idle_rounds = 1000;  // in which some woke up only to sleep again

thread_local HostBlock* current_block = nullptr;

}  // namespace

HostBlock::HostBlock(unsigned threads, std::uint64_t seed)
    : threads_(threads),
      random_(seed),
      slowness_(slownesses[random_() % slownesses.size()]),
      fibers_(threads),
      warps_(threads / warp_threads),
      writer_(shared_bytes / 4) {
  stacks_ = mmap(nullptr, threads * stack_bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks_ == MAP_FAILED) throw Error("no memory for {} stacks", threads);
  // Nobody may count on what shared memory holds at first.
  for (unsigned at = 0; at < shared_bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t bits = random_();
    std::memcpy(fusebench_shared_memory + at, &bits, sizeof bits);
  }
}

HostBlock::~HostBlock() { (void)munmap(stacks_, threads_ * stack_bytes); }

HostBlock& HostBlock::current() { return *current_block; }

void HostBlock::prepare_fibers() {
  for (unsigned thread = 0; thread < threads_; ++thread) {
    ucontext_t& context = fibers_[thread].context;
    (void)getcontext(&context);
    context.uc_stack.ss_sp = static_cast<std::byte*>(stacks_) + thread * stack_bytes;
    context.uc_stack.ss_size = stack_bytes;
    context.uc_link = &scheduler_;
    makecontext(
        &context,
        [] {
          HostBlock& block = current();
          block.kernel_();
          block.fibers_[block.running_].done = true;
        },
        0);
  }
}

void HostBlock::run(const std::function<void()>& kernel) {
  kernel_ = kernel;
  current_block = this;
  prepare_fibers();
  unsigned alive = threads_;
  int idle_rounds = 0;
  while (alive > 0) {
    ++idle_rounds;
    // Every thread once, each time in another order.
    unsigned thread = static_cast<unsigned>(random_() % threads_);
    auto stride = static_cast<unsigned>(random_() % threads_);
    while (std::gcd(stride, threads_) != 1) stride = static_cast<unsigned>(random_() % threads_);
    for (unsigned i = 0; i < threads_; ++i, thread = (thread + stride) % threads_) {
      Fiber& fiber = fibers_[thread];
      if (fiber.away > 0) {
        --fiber.away;
        idle_rounds = 0;
        continue;
      }
      if (fiber.done || (fiber.ready && !fiber.ready())) continue;
      resume(thread);
      if (failure_) throw Error("block {}, thread {}: {}", block_index.x, thread, *failure_);
      if (!fiber.sleeps) idle_rounds = 0;
      alive -= fiber.done ? 1 : 0;
      if (!pending_.empty() && random_() % slowness_ == 0) run_pending();
    }
    if (idle_rounds == 0) continue;
    if (!pending_.empty()) {
      run_pending();
    } else if (idle_rounds > most_idle_rounds) {
      throw Error("block {}: deadlock: {}", block_index.x, who_waits());
    }
  }
  if (!pending_.empty()) throw Error("block {}: a copy outlives it", block_index.x);
}

void HostBlock::resume(unsigned thread) {
  running_ = thread;
  thread_index = {thread, 0, 0};
  fibers_[thread].ready = nullptr;
  fibers_[thread].sleeps = false;
  (void)swapcontext(&scheduler_, &fibers_[thread].context);
}

void HostBlock::run_pending() {
  const auto which = static_cast<std::ptrdiff_t>(random_() % pending_.size());
  std::swap(pending_[static_cast<std::size_t>(which)], pending_.back());
  const auto work = std::move(pending_.back());
  pending_.pop_back();
  work();
}

std::string HostBlock::who_waits() const {
  std::map<std::string, std::vector<unsigned>> waiting;
  for (unsigned thread = 0; thread < threads_; ++thread) {
    if (!fibers_[thread].done) waiting[fibers_[thread].waits_for].push_back(thread);
  }
  std::string text;
  for (const auto& [what, threads] : waiting) {
    text += fmt::format("{}{} threads from {} wait for {}", text.empty() ? "" : ", ",
                        threads.size(), threads.front(), what);
  }
  return text;
}

void HostBlock::fail(const std::string& what) {
  failure_ = what;
  (void)swapcontext(&fibers_[running_].context, &scheduler_);
  std::terminate();  // nobody resumes it
}

void HostBlock::wait_until(const char* what, std::function<bool()> ready) {
  if (ready()) return dawdle();
  Fiber& fiber = fibers_[running_];
  fiber.waits_for = what;
  fiber.ready = std::move(ready);
  (void)swapcontext(&fiber.context, &scheduler_);
}

void HostBlock::sleep() {
  Fiber& fiber = fibers_[running_];
  fiber.waits_for = "another thread, asleep";
  fiber.sleeps = true;
  (void)swapcontext(&fiber.context, &scheduler_);
}

void HostBlock::dawdle() {
  if (random_() % 16 != 0) return;
  fibers_[running_].waits_for = "nothing";
  fibers_[running_].away = random_() % 64 == 0 ? static_cast<unsigned>(random_() % 256) : 0;
  (void)swapcontext(&fibers_[running_].context, &scheduler_);
}

const std::array<std::uint64_t, warp_threads>& HostBlock::exchange(const char* what,
                                                                   std::uint64_t word) {
  Warp& warp = warps_[running_ / warp_threads];
  const unsigned generation = warp.generation;
  if (warp.arrived > 0 && warp.what != what) {
    fail(fmt::format("lanes of a warp meet at {} and at {}", warp.what, what));
  }
  warp.what = what;
  warp.words[generation % 2][running_ % warp_threads] = word;
  if (++warp.arrived == warp_threads) {
    warp.arrived = 0;
    ++warp.generation;
  } else {
    wait_until(what, [&warp, generation] { return warp.generation != generation; });
  }
  return warp.words[generation % 2];
}

bool HostBlock::named_barrier(unsigned id, unsigned threads, bool here) {
  NamedBarrier& barrier = named_.at(id);
  const unsigned generation = barrier.generation;
  bool& any = barrier.any[generation % 2];
  any = (barrier.arrived > 0 && any) || here;
  if (++barrier.arrived == threads) {
    barrier.arrived = 0;
    ++barrier.generation;
  } else {
    wait_until("a named barrier",
               [&barrier, generation] { return barrier.generation != generation; });
  }
  return any;
}

HostBlock::Mbarrier& HostBlock::mbarrier(unsigned barrier) {
  const auto found = mbarriers_.find(barrier);
  if (found == mbarriers_.end()) fail(fmt::format("no mbarrier was made at {}", barrier));
  return found->second;
}

void HostBlock::end_phase_if_complete(Mbarrier& barrier) const {
  if (barrier.pending > 0 || barrier.bytes_to_come != 0) return;
  barrier.pending = barrier.arrivals;
  barrier.phase ^= 1;
}

void HostBlock::barrier_init(unsigned barrier, unsigned arrivals) {
  if (barrier % 8 != 0) fail(fmt::format("an mbarrier at {}, no multiple of 8", barrier));
  mbarriers_[barrier] = {arrivals, arrivals, 0, 0};
}

void HostBlock::barrier_arrive(unsigned barrier, unsigned bytes_to_come) {
  dawdle();
  Mbarrier& it = mbarrier(barrier);
  if (it.pending == 0) fail("one more arrival at an mbarrier than it was made for");
  it.bytes_to_come += bytes_to_come;
  --it.pending;
  end_phase_if_complete(it);
  dawdle();
}

void HostBlock::barrier_complete(unsigned barrier, unsigned bytes) {
  Mbarrier& it = mbarriers_.at(barrier);
  it.bytes_to_come -= bytes;
  end_phase_if_complete(it);
}

void HostBlock::barrier_wait(unsigned barrier, unsigned parity) {
  const Mbarrier& it = mbarrier(barrier);
  wait_until("an mbarrier", [&it, parity] { return it.phase != parity; });
}

void HostBlock::wrote(unsigned address, unsigned bytes) {
  if (address % 4 != 0 || address + bytes > shared_bytes) {
    fail(fmt::format("writes {} bytes at {} of shared memory", bytes, address));
  }
  for (unsigned word = address / 4; word < (address + bytes) / 4; ++word) {
    require_arrived(4 * word);
    writer_[word] = static_cast<std::uint16_t>(running_ + 1);
    fibers_[running_].unpublished.push_back(word);
  }
  dawdle();
}

void HostBlock::publish() {
  std::vector<unsigned>& words = fibers_[running_].unpublished;
  for (const unsigned word : words) {
    if (writer_[word] == running_ + 1) writer_[word] = 0;
  }
  words.clear();
}

void HostBlock::copy_begins(unsigned address, unsigned bytes) {
  if (address % 16 != 0 || address + bytes > shared_bytes) {
    fail(fmt::format("a copy of {} bytes to {} of shared memory", bytes, address));
  }
  std::fill_n(writer_.begin() + address / 4, bytes / 4, copy_under_way);
}

void HostBlock::copy_ends(unsigned address, unsigned bytes) {
  std::fill_n(writer_.begin() + address / 4, bytes / 4, std::uint16_t{0});
}

void HostBlock::require_arrived(unsigned address) {
  if (address >= shared_bytes) fail(fmt::format("{} is beyond shared memory", address));
  if (writer_[address / 4] == copy_under_way) {
    fail(fmt::format("reads {}, which a copy is still bringing", address));
  }
}

void HostBlock::require_published(unsigned address) {
  require_arrived(address);
  if (const unsigned writer = writer_[address / 4]; writer != 0) {
    fail(fmt::format("tensor cores read {}, which thread {} wrote and did not publish", address,
                     writer - 1));
  }
}

}  // namespace fusebench::emulation
