// Phases and variants as NVTX ranges, for whichever profiler is attached.
#pragma once

#include <optional>
#include <string>

#include "harness/trace/phase.hpp"

namespace fusebench {

/// Is a profiler that hears NVTX attached to this process? Its children then have it too. Always false in a build made
/// without NVTX's headers.
[[nodiscard]] bool is_nvtx_attached();

/// In the domain "fusebench": the range of a phase and within it the range that bears the variant's key, which is the
/// innermost, so that a profiler's sums by name are sums by variant. A conclusion is a mark: its text the outcome and the
/// key, its colour the outcome's, its payload the nanoseconds of a call. Each text is registered once. All on one
/// thread, since ranges are nested by thread. Costs a branch where nothing is attached.
class NvtxPhases final : public PhaseListener {
 public:
  NvtxPhases() = default;
  NvtxPhases(const NvtxPhases&) = delete;
  NvtxPhases& operator=(const NvtxPhases&) = delete;
  ~NvtxPhases() override;

  void enter(Phase phase, const std::string& key) override;
  void leave() override;
  void conclude(const std::string& key, Outcome outcome, double ns) override;

 private:
  friend class NvtxPreparing;
  std::optional<Phase> open_;
  std::string key_;
};

/// While this lives, the phase that was open stands still for `prepare` of the same variant; nothing where none was.
class NvtxPreparing {
 public:
  /// `phases` outlives it.
  explicit NvtxPreparing(NvtxPhases& phases);
  NvtxPreparing(const NvtxPreparing&) = delete;
  NvtxPreparing& operator=(const NvtxPreparing&) = delete;
  ~NvtxPreparing();

 private:
  NvtxPhases* phases_;
  std::optional<Phase> before_;
};

}  // namespace fusebench
