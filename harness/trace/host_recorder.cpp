#include "harness/trace/host_recorder.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace fusebench {

std::uint64_t steady_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

std::int64_t this_thread() { return syscall(SYS_gettid); }

HostRecorder::HostRecorder(Timeline& timeline, std::function<std::uint64_t()> now)
    : timeline_(&timeline), now_(std::move(now)) {}

HostRecorder::~HostRecorder() { leave(); }

void HostRecorder::enter(Phase phase, const std::string& key) {
  if (open_ == phase && key_ == key) return;
  leave();
  open_ = phase;
  key_ = key;
  since_ns_ = now_();
}

void HostRecorder::leave() {
  if (!open_) return;
  const TimeSpan when{since_ns_, now_()};
  timeline_->spans.push_back({this_thread(), when, std::string(to_string(*open_))});
  timeline_->spans.push_back({this_thread(), when, key_});
  open_.reset();
}

void HostRecorder::conclude(const std::string&, Outcome, double) { leave(); }

TimeSpan HostRecorder::time(const std::function<void()>& body) const {
  TimeSpan when{now_(), 0};
  body();
  when.end_ns = now_();
  return when;
}

void HostRecorder::add_call(std::size_t call, const TimeSpan& when) {
  timeline_->spans.push_back({this_thread(), when, "call", call});
}

}  // namespace fusebench
