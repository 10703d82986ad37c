// CUPTI's records, taken over one by one, and put together when all are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/trace/timeline.hpp"

namespace fusebench {

/// Knows nothing of CUPTI's types, so that what becomes of a record can be tested where there is none.
class ActivityRecords {
 public:
  void add(ApiCall call) { api_.push_back(std::move(call)); }
  /// Counts it as timeless where start and end are 0: CUPTI has no times for it.
  void add(DeviceWork work);
  void add(Overhead overhead) { overheads_.push_back(std::move(overhead)); }
  /// The API call `correlation` was made in call number `call`.
  void belongs(std::uint32_t correlation, std::size_t call) { call_of_[correlation] = call; }
  void add_dropped(std::size_t count) { dropped_ += count; }

  /// Moves everything into the timeline, each with the call that it belongs to; of API calls that belong to none and started
  /// no work, only those of `shortest_told_ns` or more.
  void move_to(Timeline& timeline, std::uint64_t shortest_told_ns);

 private:
  [[nodiscard]] std::optional<std::size_t> call_of(std::uint32_t correlation) const;

  std::vector<ApiCall> api_;
  std::vector<DeviceWork> work_;
  std::vector<Overhead> overheads_;
  std::map<std::uint32_t, std::size_t> call_of_;
  std::size_t dropped_ = 0;
  std::size_t timeless_ = 0;
};

/// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel": the version says nothing to a reader.
[[nodiscard]] std::string without_version(const std::string& function);

/// A kernel's name as a person writes it, at most 120 bytes long.
[[nodiscard]] std::string readable_kernel_name(const char* name);

}  // namespace fusebench
