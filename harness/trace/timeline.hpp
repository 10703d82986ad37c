// What happened when: phases and calls on the host, API calls, and the work that they put on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/outcome.hpp"

namespace fusebench {

/// One calling of one variant's plan; what it started on a device names it by its number.
struct TracedCall {
  std::size_t variant = 0;         ///< index into Timeline::variants
  bool warmup = false;             ///< before those that count
  int iteration = 0;               ///< from 0
  std::optional<double> event_ns;  ///< by the harness's own clock
};

struct TracedVariant {
  std::string operator_name;
  std::string variant;
  std::string configuration;
  std::string problem;
  DeviceKind device = DeviceKind::cpu;
  std::string key;  ///< variant_key()'s
};

/// Nanoseconds of one clock, whatever it counts from; all of a timeline are of the same.
struct TimeSpan {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

/// A time on a thread of this process: a phase, a variant within it, a call within that.
struct HostSpan {
  std::int64_t thread = 0;  ///< the system's number
  TimeSpan when;
  std::string name;
  std::optional<std::size_t> call = {};  ///< index into Timeline::calls
};

/// A call of the driver or of the runtime library.
struct ApiCall {
  std::int64_t thread = 0;
  TimeSpan when;
  std::string name;
  std::uint32_t correlation = 0;         ///< that device work names; unique among API calls
  std::optional<std::size_t> call = {};  ///< that it was made in
};

enum class WorkKind { kernel, memcpy, memset };

struct DeviceWork {
  WorkKind kind = WorkKind::kernel;
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  TimeSpan when;
  std::string name;
  std::uint32_t correlation = 0;         ///< of the API call that started it
  std::optional<std::size_t> call = {};  ///< that it belongs to
  std::uint64_t bytes = 0;               ///< 0 for a kernel
  std::int64_t blocks = 0;               ///< 0 but for a kernel, as are those that follow
  std::int64_t threads = 0;              ///< of a block
  std::int64_t registers = 0;            ///< of a thread
  std::int64_t shared_bytes = 0;         ///< of a block, static and dynamic
};

/// Time that the profiler itself took on a thread.
struct Overhead {
  std::int64_t thread = 0;
  TimeSpan when;
  std::string name;
};

struct Timeline {
  std::string process_name;
  std::int64_t process = 0;
  std::string device_name;  ///< of CUDA device 0
  std::vector<TracedVariant> variants;
  std::vector<TracedCall> calls;
  std::vector<HostSpan> spans;
  std::vector<ApiCall> api;
  std::vector<DeviceWork> work;
  std::vector<Overhead> overheads;
  /// Index into variants of what tells how long two events take around a call that does nearly nothing.
  std::optional<std::size_t> least_call = {};
  std::size_t dropped = 0;   ///< records that the profiler had no room for
  std::size_t timeless = 0;  ///< records without a time, which are left out
};

}  // namespace fusebench
