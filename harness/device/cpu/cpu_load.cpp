// Work beside a candidate's on a CPU: one thread that streams through memory.
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "harness/device/cpu/cpu_load.hpp"

namespace fusebench {
namespace {

constexpr std::size_t bytes = std::size_t{8} << 20;

class CpuLoad final : public Load {
 public:
  CpuLoad() : thread_([this] { work(); }) {}
  ~CpuLoad() override {
    stop_ = true;
    thread_.join();
  }
  CpuLoad(const CpuLoad&) = delete;
  CpuLoad& operator=(const CpuLoad&) = delete;

 private:
  void work() {
    std::vector<unsigned char> memory(bytes);
    for (int round = 0; !stop_; ++round) {
      // In small steps, so that it ends soon after it is told to.
      for (std::size_t at = 0; at < bytes && !stop_; at += bytes / 64) {
        std::memset(memory.data() + at, round, bytes / 64);
      }
    }
  }

  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Load> start_cpu_load() { return std::make_unique<CpuLoad>(); }

}  // namespace fusebench
