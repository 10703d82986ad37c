// Phases and calls of this process, by one clock.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "harness/trace/phase.hpp"
#include "harness/trace/timeline.hpp"

namespace fusebench {

/// A steady clock's nanoseconds.
[[nodiscard]] std::uint64_t steady_ns();

/// The system's number of the calling thread.
[[nodiscard]] std::int64_t this_thread();

/// Adds to a timeline the span of each phase and, within it, one that bears the variant's key; and the calls. All on one
/// thread.
class HostRecorder final : public PhaseListener {
 public:
  /// `timeline` outlives it; `now` gives nanoseconds.
  HostRecorder(Timeline& timeline, std::function<std::uint64_t()> now);
  HostRecorder(const HostRecorder&) = delete;
  HostRecorder& operator=(const HostRecorder&) = delete;
  ~HostRecorder() override;

  void enter(Phase phase, const std::string& key) override;
  void leave() override;
  void conclude(const std::string& key, Outcome outcome, double ns) override;

  /// When `body` ran. Throws what it throws.
  [[nodiscard]] TimeSpan time(const std::function<void()>& body) const;
  /// That was Timeline::calls[call]. Apart from time(), so that keeping it is in nobody's time.
  void add_call(std::size_t call, const TimeSpan& when);

 private:
  Timeline* timeline_;
  std::function<std::uint64_t()> now_;
  std::optional<Phase> open_;
  std::string key_;
  std::uint64_t since_ns_ = 0;
};

}  // namespace fusebench
