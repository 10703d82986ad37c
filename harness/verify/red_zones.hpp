// A device buffer between two strips that nobody may write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/device/device.hpp"

namespace fusebench {

class GuardedBuffer {
 public:
  /// Both strips are `zone_bytes` long and keep the buffer aligned to 256 bytes.
  static constexpr std::size_t zone_bytes = std::size_t{64} * 1024;

  /// `name` is the tensor's, for messages. The device must outlive the buffer.
  GuardedBuffer(Device& device, std::string name, std::size_t bytes);

  [[nodiscard]] void* address() const noexcept {
    return static_cast<std::byte*>(buffer_.address()) + zone_bytes;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  /// Writes the pattern into both strips.
  void arm();
  /// What was written outside the buffer since arm(): "tensor y: written 12 bytes past its end";
  /// nullopt when nothing was.
  [[nodiscard]] std::optional<std::string> broken();

 private:
  Device* device_;
  std::string name_;
  std::size_t bytes_;
  Buffer buffer_;
};

}  // namespace fusebench
