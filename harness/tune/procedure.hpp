// Lets a strategy be written as the procedure it is in books: a coroutine that awaits measurements, behind
// ask and tell.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "harness/tune/random_source.hpp"
#include "harness/tune/search_memory.hpp"
#include "harness/tune/strategy.hpp"

namespace fusebench {

/// The coroutine's handle; it starts suspended.
class Procedure {
 public:
  struct promise_type {
    Procedure get_return_object() {
      return Procedure(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { exception = std::current_exception(); }
    std::exception_ptr exception;
  };

  Procedure() = default;
  explicit Procedure(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Procedure(Procedure&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Procedure& operator=(Procedure&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Procedure(const Procedure&) = delete;
  Procedure& operator=(const Procedure&) = delete;
  ~Procedure() {
    if (handle_) handle_.destroy();
  }

  [[nodiscard]] bool finished() const { return !handle_ || handle_.done(); }
  /// Runs on to the next measurement that it awaits, or to its end.
  void resume() {
    handle_.resume();
    if (handle_.promise().exception) std::rethrow_exception(handle_.promise().exception);
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

/// A strategy whose search() is a procedure: `const double time = co_await measured(index);`. What is known
/// already is answered at once and costs nothing. While the procedure waits for one answer, or when it has
/// ended, further configurations are drawn at random.
class ProcedureStrategy : public Strategy {
 public:
  ProcedureStrategy(const SearchSpace& space, const StrategyOptions& options)
      : space_(&space), options_(options), memory_(space), random_(options.seed) {}

  [[nodiscard]] std::optional<std::size_t> ask() final;
  void tell(std::size_t index, std::optional<double> time_ns) final {
    memory_.learn(index, time_ns);
  }

 protected:
  struct Awaiter {
    ProcedureStrategy* strategy;
    std::size_t index;
    [[nodiscard]] bool await_ready() const { return strategy->memory_.is_known(index); }
    void await_suspend(std::coroutine_handle<> /*self*/) const { strategy->awaited_ = index; }
    [[nodiscard]] double await_resume() const { return strategy->memory_.time_of(index); }
  };

  /// Never called again once it has ended.
  virtual Procedure search() = 0;

  /// The time of a configuration, or SearchMemory::failed.
  [[nodiscard]] Awaiter measured(std::size_t index) { return {this, index}; }

  [[nodiscard]] const SearchSpace& space() const { return *space_; }
  [[nodiscard]] const StrategyOptions& options() const { return options_; }
  [[nodiscard]] const SearchMemory& memory() const { return memory_; }
  [[nodiscard]] RandomSource& random() { return random_; }

 private:
  const SearchSpace* space_;
  StrategyOptions options_;
  SearchMemory memory_;
  RandomSource random_;
  Procedure procedure_;
  bool started_ = false;
  std::optional<std::size_t> awaited_;
};

}  // namespace fusebench
