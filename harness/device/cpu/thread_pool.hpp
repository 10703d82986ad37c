// All cores, kept awake for a while after each call: what the harness, the copy control and the
// threaded variants share, so that none of them times the creation or the waking of threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace fusebench {

class ThreadPool {
 public:
  /// `threads` counts the calling thread, which works too. `pinned` ties thread i to the i-th
  /// allowed core.
  explicit ThreadPool(int threads, bool pinned = false);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int size() const noexcept { return static_cast<int>(workers_.size()) + 1; }

  /// Runs body(0) .. body(count - 1), count <= size(), each on its own thread, and returns when all
  /// are done. An exception of any is rethrown here. Not reentrant.
  void run(int count, const std::function<void(int)>& body);

  /// Sends the threads to sleep at once instead of keeping them awake for a next call: for a process
  /// that is about to wait for another, which needs the cores.
  void rest() noexcept { awake_ = false; }

  /// Splits [0, total) into one contiguous range a thread, borders at multiples of `grain`, and runs
  /// body(begin, end) on each.
  void for_ranges(std::int64_t total, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body);

 private:
  void work(int index, bool pinned);
  void call(int index);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const std::function<void(int)>* body_ = nullptr;
  std::exception_ptr failure_;
  std::atomic<std::uint64_t> generation_ = 0;  // written under the mutex, watched without it
  int count_ = 0;
  std::atomic<int> running_ = 0;    // likewise
  std::atomic<bool> awake_ = true;  // may watch for the next call
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

/// The process's pool: one thread a usable core. Created on first use; `pin_shared_pool` must come
/// before that to have an effect.
[[nodiscard]] ThreadPool& shared_pool();
void pin_shared_pool();

/// Gives the calling thread all cores that the process began with, whatever it was tied to since. Safe
/// between fork and exec.
void untie_thread() noexcept;

/// Cores this process may run on.
[[nodiscard]] std::vector<int> usable_cores();

}  // namespace fusebench
