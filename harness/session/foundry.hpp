// Processes that compile kernels into the cache on disk ahead of their use, while a device measures others.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "harness/core/variant.hpp"
#include "harness/device/device.hpp"

namespace fusebench {

struct Item;

/// Each process serves one compile after another and is replaced when a compiler crashes or takes longer than the limit, which
/// costs that kernel no more than being compiled where it is used. What does not compile is found out there too.
class Foundry {
 public:
  /// `niceness` is added to the processes' own, so that whoever is measured meanwhile comes first. `interrupted` is asked by
  /// several threads at once. Throws std::system_error where the system has no thread left.
  Foundry(Architecture target, DeviceOptions options, std::size_t processes, int niceness,
          std::chrono::duration<double> limit, std::function<bool()> interrupted);
  ~Foundry();  ///< ends the processes, whatever they do
  Foundry(const Foundry&) = delete;
  Foundry& operator=(const Foundry&) = delete;

  struct Wanted {
    const Variant* variant;
    Problem problem;
    Configuration configuration;
    [[nodiscard]] std::vector<KernelSpec> kernels() const {
      return variant->kernels(problem, configuration);
    }
  };
  /// Compiles these next, the first first; what was ordered and not begun is forgotten. What is known or under way is left out.
  void order(const std::vector<Wanted>& wanted);
  /// Whether a configuration's kernels are compiled, under way, or were taken.
  [[nodiscard]] bool knows(const Wanted& wanted);
  /// Waits while a configuration's kernels are being compiled here; when they were only ordered, they are no longer. Returns
  /// what they took to compile, in nanoseconds; 0 where they were not compiled here.
  double take(const Wanted& wanted);
  /// Waits until everything that was ordered is done, `tick` being called several times a second with the number left.
  /// Returns early when `tick` says false.
  void drain(const std::function<bool(std::size_t left)>& tick);

  /// As many as the processors that this program may use, less one for whoever waits for the kernels, and at least one.
  [[nodiscard]] static std::size_t all_processors();

 private:
  struct Order {
    std::string key;
    std::string operator_name;
    std::string variant;
    std::string problem;
    std::string configuration;
  };
  struct State {
    bool done = false;
    double ns = 0.0;
  };
  void serve();
  void end();
  double compile(const Order& order, class WorkerProcess& process) const;

  Architecture target_;
  DeviceOptions options_;
  int niceness_;
  std::chrono::duration<double> limit_;
  std::function<bool()> interrupted_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::deque<Order> orders_;
  std::map<std::string, State> begun_;  // by key
  std::vector<std::thread> threads_;
};

/// Tells apart configurations whose kernels differ, for a problem; empty where there are none.
[[nodiscard]] std::string kernels_key(const Foundry::Wanted& wanted);

/// A configuration of an item's variant for its problem; of no control.
[[nodiscard]] Foundry::Wanted wanted_of(const Item& item, Configuration configuration);

}  // namespace fusebench
