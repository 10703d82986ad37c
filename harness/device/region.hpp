// Memory that two processes can share, between addresses that nobody may touch.
#pragma once

#include <cstddef>

namespace fusebench {

/// Whole pages of device memory. The addresses right before and right behind them are not mapped, so
/// that a call which reads or writes there fails, where the device allows it (guarded()).
class Region {
 public:
  virtual ~Region() = default;
  [[nodiscard]] virtual void* address() const noexcept = 0;
  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
  /// What another process opens it by (Device::open_region), sent over a socket; -1 where the
  /// device's memory cannot be shared. Owned by the region.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  [[nodiscard]] virtual bool guarded() const noexcept = 0;
};

}  // namespace fusebench
