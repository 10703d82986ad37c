#include "harness/verify/red_zones.hpp"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "harness/core/generator.hpp"

namespace fusebench {
namespace {

// Differs at every byte and from anything a kernel would plausibly write.
const std::vector<std::byte>& pattern() {
  static const std::vector<std::byte> bytes = [] {
    std::vector<std::byte> made(GuardedBuffer::zone_bytes);
    for (std::size_t i = 0; i < made.size(); i += 8) {
      const std::uint64_t word = random_bits(0xFE9CE, i);
      std::memcpy(made.data() + i, &word, sizeof word);
    }
    return made;
  }();
  return bytes;
}

}  // namespace

GuardedBuffer::GuardedBuffer(Device& device, std::string name, std::size_t bytes)
    : device_(&device),
      name_(std::move(name)),
      bytes_(bytes),
      buffer_(device.allocate(bytes + 2 * zone_bytes)) {}

void GuardedBuffer::arm() {
  device_->upload(buffer_.address(), pattern().data(), zone_bytes);
  device_->upload(static_cast<std::byte*>(address()) + bytes_, pattern().data(), zone_bytes);
}

std::optional<std::string> GuardedBuffer::broken() {
  std::vector<std::byte> found(zone_bytes);
  device_->download(found.data(), buffer_.address(), zone_bytes);
  for (std::size_t i = 0; i < zone_bytes; ++i) {
    if (found[i] != pattern()[i]) {
      return fmt::format("tensor {}: written {} bytes before its beginning", name_, zone_bytes - i);
    }
  }
  device_->download(found.data(), static_cast<std::byte*>(address()) + bytes_, zone_bytes);
  for (std::size_t i = zone_bytes; i-- > 0;) {
    if (found[i] != pattern()[i]) {
      return fmt::format("tensor {}: written {} bytes past its end", name_, i + 1);
    }
  }
  return std::nullopt;
}

}  // namespace fusebench
