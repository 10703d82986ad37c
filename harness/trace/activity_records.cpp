#include "harness/trace/activity_records.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>

namespace fusebench {
namespace {

constexpr std::size_t most_name_bytes = 120;

template <typename T>
void move_all(std::vector<T>& from, std::vector<T>& to) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
  from.clear();
}

}  // namespace

void ActivityRecords::add(DeviceWork work) {
  if (work.when.start_ns == 0 && work.when.end_ns == 0) {
    ++timeless_;
  } else {
    work_.push_back(std::move(work));
  }
}

std::optional<std::size_t> ActivityRecords::call_of(std::uint32_t correlation) const {
  const auto found = call_of_.find(correlation);
  return found == call_of_.end() ? std::nullopt : std::optional(found->second);
}

void ActivityRecords::move_to(Timeline& timeline, std::uint64_t shortest_told_ns) {
  std::set<std::uint32_t> started_work;
  for (DeviceWork& work : work_) {
    work.call = call_of(work.correlation);
    started_work.insert(work.correlation);
  }
  for (ApiCall& call : api_) call.call = call_of(call.correlation);
  std::erase_if(api_, [&](const ApiCall& call) {
    const bool is_short = call.when.end_ns < call.when.start_ns + shortest_told_ns;
    return is_short && !call.call && !started_work.contains(call.correlation);
  });
  move_all(api_, timeline.api);
  move_all(work_, timeline.work);
  move_all(overheads_, timeline.overheads);
  timeline.dropped += std::exchange(dropped_, 0);
  timeline.timeless += std::exchange(timeless_, 0);
  call_of_.clear();
}

std::string without_version(const std::string& function) {
  const std::size_t mark = function.rfind("_v");
  if (mark == std::string::npos || mark + 2 == function.size()) return function;
  const bool is_number = std::all_of(function.begin() + static_cast<std::ptrdiff_t>(mark) + 2,
                                     function.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? function.substr(0, mark) : function;
}

std::string readable_kernel_name(const char* name) {
  if (name == nullptr) return "kernel without a name";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  std::string text = status == 0 && readable ? readable.get() : name;
  if (text.size() > most_name_bytes) text = text.substr(0, most_name_bytes - 3) + "...";
  return text;
}

}  // namespace fusebench
