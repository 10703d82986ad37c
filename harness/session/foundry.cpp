#include "harness/session/foundry.hpp"

#include <sched.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/error.hpp"
#include "harness/session/session.hpp"
#include "harness/session/worker_process.hpp"

namespace fusebench {

std::string kernels_key(const Foundry::Wanted& wanted) {
  std::string key;
  for (const KernelSpec& spec : wanted.kernels()) {
    key += spec.source + (spec.contract ? "\n+" : "\n-");
    for (const auto& [name, value] : spec.macros) key += name + "=" + value + "\n";
  }
  return key;
}

std::size_t Foundry::all_processors() {
  cpu_set_t mine;
  const int count = sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
  return static_cast<std::size_t>(std::max(1, count - 1));
}

Foundry::Foundry(Architecture target, DeviceOptions options, std::size_t processes, int niceness,
                 std::chrono::duration<double> limit, std::function<bool()> interrupted)
    : target_(target),
      options_(std::move(options)),
      niceness_(niceness),
      limit_(limit),
      interrupted_(std::move(interrupted)) {
  threads_.reserve(processes);
  try {
    for (std::size_t i = 0; i < processes; ++i) threads_.emplace_back([this] { serve(); });
  } catch (...) {
    end();  // those that were started: their destructors would end the program
    throw;
  }
}

Foundry::~Foundry() { end(); }

void Foundry::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    orders_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Foundry::order(const std::vector<Wanted>& wanted) {
  std::vector<Order> orders;
  for (const Wanted& one : wanted) {
    std::string key = kernels_key(one);
    if (key.empty()) continue;
    const VariantInfo& info = one.variant->info();
    orders.push_back({std::move(key), info.operator_name, info.name, one.problem.to_string(),
                      one.configuration.to_string()});
  }
  {
    const std::lock_guard lock(mutex_);
    orders_.clear();
    std::set<std::string> seen;
    for (Order& order : orders) {
      if (begun_.contains(order.key) || !seen.insert(order.key).second) continue;
      orders_.push_back(std::move(order));
    }
  }
  changed_.notify_all();
}

bool Foundry::knows(const Wanted& wanted) {
  const std::string key = kernels_key(wanted);
  const std::lock_guard lock(mutex_);
  return key.empty() || begun_.contains(key);
}

double Foundry::take(const Wanted& wanted) {
  const std::string key = kernels_key(wanted);
  std::unique_lock lock(mutex_);
  const auto begun = begun_.find(key);
  if (begun == begun_.end()) {
    std::erase_if(orders_, [&](const Order& order) { return order.key == key; });
    if (!key.empty()) begun_[key].done = true;  // where it is used
    return 0.0;
  }
  changed_.wait(lock, [&] { return begun->second.done; });
  return std::exchange(begun->second.ns, 0.0);  // spent once, however many share it
}

void Foundry::drain(const std::function<bool(std::size_t)>& tick) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto under_way = static_cast<std::size_t>(std::count_if(
        begun_.begin(), begun_.end(), [](const auto& one) { return !one.second.done; }));
    const std::size_t left = orders_.size() + under_way;
    if (left == 0 || !tick(left)) return;
    changed_.wait_for(lock, std::chrono::milliseconds(100));
  }
}

void Foundry::serve() {
  std::unique_ptr<WorkerProcess> process;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !orders_.empty(); });
    if (ending_) return;
    const Order order = std::move(orders_.front());
    orders_.pop_front();
    State& state = begun_[order.key];
    lock.unlock();
    double ns = 0.0;
    try {
      if (!process) {
        // Ours, not the judge's, is the question whether to go on.
        process = std::make_unique<WorkerProcess>(DeviceKind::cuda, options_, [this] {
          const std::lock_guard guard(mutex_);
          return ending_ || interrupted_();
        });
      }
      ns = compile(order, *process);
    } catch (const LostWorker&) {
      process.reset();
    } catch (const Interrupted&) {
      process.reset();
    } catch (const std::exception&) {
      // Whoever uses it will be told.
    }
    lock.lock();
    state.ns = ns;
    state.done = true;
    changed_.notify_all();
  }
}

double Foundry::compile(const Order& order, WorkerProcess& process) const {
  process.set_limit(limit_);
  const nlohmann::json answer = process.ask({{"do", "compile"},
                                             {"niceness", niceness_},
                                             {"arch", target_.to_string()},
                                             {"operator", order.operator_name},
                                             {"variant", order.variant},
                                             {"problem", order.problem},
                                             {"configuration", order.configuration}});
  const nlohmann::json ns = answer.value("ns", nlohmann::json());
  return ns.is_number() ? ns.get<double>() : 0.0;
}

Foundry::Wanted wanted_of(const Item& item, Configuration configuration) {
  return {item.variant, item.op->parse_problem(item.job.problem), std::move(configuration)};
}

}  // namespace fusebench
