// Where a tensor lies in its pages, and the strips beside it that nobody may write.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/variant.hpp"
#include "harness/device/device.hpp"

namespace fusebench {

/// Which end of a tensor lies at an address that is not mapped.
enum class Edge { none, begin, end };

struct Placement {
  std::string name = "aligned";
  std::size_t shift = 0;  ///< bytes beyond an address aligned to 256; a multiple of 4
  Edge edge = Edge::none;
  bool in_place = false;  ///< the output is the first input's memory
};

/// Aligned, shifted by 4, 8 and 12 bytes, beginning and ending at an unmapped page; then, for a variant that
/// is also in place, aligned in place. All in place for one that is only that. The first is the usual one,
/// in which a variant is timed.
[[nodiscard]] std::vector<Placement> placements(InPlace in_place);

class PlacedTensor {
 public:
  /// The strips on both sides, less where an unmapped page begins.
  static constexpr std::size_t zone_bytes = std::size_t{64} * 1024;

  /// `name` is the tensor's, for messages; `others_may_write` as in Device::make_region. The device must
  /// outlive it. Throws Unavailable when it is to lie at an unmapped page and the device has none.
  PlacedTensor(Device& device, std::string name, std::size_t bytes, const Placement& placement,
               bool others_may_write);

  [[nodiscard]] Region& region() const noexcept { return *region_; }
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] void* address() const noexcept {
    return static_cast<std::byte*>(region_->address()) + offset_;
  }
  [[nodiscard]] float* values() const noexcept { return static_cast<float*>(address()); }

  /// Fills both strips with NaNs made from `seed`.
  void arm(std::uint64_t seed);
  /// What was written outside the tensor since arm(): "tensor y: written 12 bytes past its end";
  /// nullopt when nothing was.
  [[nodiscard]] std::optional<std::string> broken() const;

 private:
  [[nodiscard]] MemoryRange before() const;
  [[nodiscard]] MemoryRange after() const;
  /// The strip's words that differ from the NaNs of arm(), first and one past the last; equal when none.
  [[nodiscard]] std::pair<std::size_t, std::size_t> changed(const MemoryRange& zone,
                                                            std::uint64_t seed) const;

  Device* device_;
  std::string name_;
  std::size_t bytes_;
  std::size_t offset_ = 0;
  std::unique_ptr<Region> region_;
  std::uint64_t seed_ = 0;
  std::vector<std::uint64_t> fingerprints_;  // of the strips as armed
};

}  // namespace fusebench
