// A few calls of each variant in this process, for profilers to look at and to draw on a timeline.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/session/session.hpp"
#include "harness/trace/timeline.hpp"

namespace fusebench {

struct ProfileOptions {
  std::uint64_t seed = 0;
  int iterations = 5;
  bool flush = false;       ///< write over the caches before each call
  bool even_wrong = false;  ///< call what was found wrong all the same
  bool record = false;      ///< what the GPU and the calls to it do, by CUPTI
  DeviceOptions device;
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(const Item&, Phase)> on_phase = [](const Item&, Phase) {};
};

/// What became of one item.
struct ProfiledVariant {
  Outcome outcome = Outcome::passed;
  std::string reason;           ///< empty when it passed
  std::int64_t iterations = 0;  ///< calls after the warm-up; 0 when it was not called
  std::int64_t launches = 0;  ///< kernels and library calls of these, by our own count; 0 on a CPU
  std::optional<double> mean_ns;  ///< of a call, by events or the host's clock
};

struct Profile {
  std::vector<ProfiledVariant> variants;  ///< of each item, in their order
  Timeline timeline;                      ///< Timeline::variants are the items
  std::string
      without_device;    ///< why it has nothing of a GPU although that was asked; empty when it has
  bool complete = true;  ///< false when interrupted
};

/// First each variant that can run is prepared and one call of it, of the timed problem, is verified; then, in one capture
/// range (cuProfilerStart to Stop) where a GPU is among the devices, each is prepared again, called once to warm up
/// and `iterations` times, with nothing between the calls but what an output that overwrites an input needs. So a profiler
/// that waits for the capture range sees calls, and none of the judge's work. There are no workers: what kills one variant ends it all.
/// Phases are NVTX ranges too. Throws Error when no item can run.
[[nodiscard]] Profile profile(const std::vector<Item>& items, const ProfileOptions& options);

}  // namespace fusebench
