#include "harness/device/cpu/thread_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

bool pin_requested = false;

// Taken before any thread can be tied to a core; empty where the system does not tell.
const cpu_set_t cores_at_start = [] {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
  return set;
}();

// Waking a sleeping thread takes from 50 us to, in a virtual machine, half a millisecond: as long as
// the calls that are timed. Calls follow one another closely, so it pays to watch for the next one.
template <typename Ready>
void watch(const Ready& ready) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
  while (!ready() && std::chrono::steady_clock::now() < give_up) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

void pin_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  // Refused inside some containers; then the thread stays where the system puts it.
  (void)sched_setaffinity(0, sizeof set, &set);
}

}  // namespace

void untie_thread() noexcept {
  if (CPU_COUNT(&cores_at_start) > 0) {
    (void)sched_setaffinity(0, sizeof cores_at_start, &cores_at_start);
  }
}

std::vector<int> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

ThreadPool::ThreadPool(int threads, bool pinned) {
  if (threads < 1) throw Error("a thread pool needs at least one thread, not {}", threads);
  const std::vector<int> cores = usable_cores();  // before this thread is itself tied to one
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i, pinned] { work(i, pinned); });
  if (pinned) pin_to(cores.front());
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::work(int index, bool pinned) {
  if (pinned) {
    const std::vector<int> cores = usable_cores();
    pin_to(cores[static_cast<std::size_t>(index) % cores.size()]);
  }
  std::uint64_t seen = 0;
  for (;;) {
    watch([&] { return generation_ != seen || !awake_; });
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
      if (index >= count_) continue;
    }
    call(index);
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) done_.notify_one();
  }
}

void ThreadPool::call(int index) {
  try {
    (*body_)(index);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void ThreadPool::run(int count, const std::function<void(int)>& body) {
  if (count < 1 || count > size()) {
    throw Error("a pool of {} threads cannot run {} at once", size(), count);
  }
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    count_ = count;
    running_ = count - 1;
    failure_ = nullptr;
    awake_ = true;
    ++generation_;
  }
  if (count > 1) wake_.notify_all();
  call(0);
  watch([&] { return running_ == 0; });
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return running_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

void ThreadPool::for_ranges(std::int64_t total, std::int64_t grain,
                            const std::function<void(std::int64_t, std::int64_t)>& body) {
  const std::int64_t grains = (total + grain - 1) / grain;
  const int count = static_cast<int>(std::clamp<std::int64_t>(grains, 1, size()));
  run(count, [&](int index) {
    const std::int64_t begin = grains * index / count * grain;
    const std::int64_t end = std::min(total, grains * (index + 1) / count * grain);
    if (begin < end) body(begin, end);
  });
}

ThreadPool& shared_pool() {
  static ThreadPool pool(static_cast<int>(usable_cores().size()), pin_requested);
  return pool;
}

void pin_shared_pool() { pin_requested = true; }

}  // namespace fusebench
