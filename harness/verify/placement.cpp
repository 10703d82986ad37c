#include "harness/verify/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "harness/core/error.hpp"
#include "harness/core/generator.hd.hpp"

namespace fusebench {
namespace {

constexpr std::size_t word = sizeof(float);

// The strips hold different NaNs.
std::uint64_t seed_before(std::uint64_t seed) { return random_bits(seed, 1); }
std::uint64_t seed_after(std::uint64_t seed) { return random_bits(seed, 2); }

void fill(Device& device, const MemoryRange& zone, std::uint64_t seed) {
  device.poison(static_cast<float*>(const_cast<void*>(zone.address)),
                static_cast<std::int64_t>(zone.bytes / word), seed);
}

}  // namespace

std::vector<Placement> placements(InPlace in_place) {
  std::vector<Placement> all = {{.name = "aligned"}};
  for (const std::size_t shift : {4, 8, 12}) {
    all.push_back({.name = fmt::format("shifted by {} bytes", shift), .shift = shift});
  }
  all.push_back({.name = "begins at an unmapped page", .edge = Edge::begin});
  all.push_back({.name = "ends at an unmapped page", .edge = Edge::end});
  if (in_place == InPlace::also) all.push_back({.name = "in place", .in_place = true});
  if (in_place == InPlace::only) {
    for (Placement& each : all) {
      each.in_place = true;
      each.name = each.name == Placement{}.name ? "in place" : "in place, " + each.name;
    }
  }
  return all;
}

PlacedTensor::PlacedTensor(Device& device, std::string name, std::size_t bytes,
                           const Placement& placement, bool others_may_write)
    : device_(&device), name_(std::move(name)), bytes_(bytes) {
  const std::size_t zones = placement.edge == Edge::none ? 2 * zone_bytes : zone_bytes;
  region_ = device.make_region(zones + placement.shift + bytes, others_may_write);
  if (placement.edge != Edge::none && !region_->guarded()) {
    throw Unavailable("{}: this device cannot leave addresses unmapped", placement.name);
  }
  switch (placement.edge) {
    case Edge::none: offset_ = zone_bytes + placement.shift; break;
    case Edge::begin: offset_ = 0; break;
    case Edge::end: offset_ = region_->bytes() - bytes; break;
  }
}

MemoryRange PlacedTensor::before() const {
  const std::size_t size = std::min(offset_, zone_bytes);
  return {static_cast<std::byte*>(address()) - size, size};
}

MemoryRange PlacedTensor::after() const {
  const std::size_t size = std::min(region_->bytes() - offset_ - bytes_, zone_bytes) / word * word;
  return {static_cast<std::byte*>(address()) + bytes_, size};
}

void PlacedTensor::arm(std::uint64_t seed) {
  seed_ = seed;
  const std::array<MemoryRange, 2> zones = {before(), after()};
  fill(*device_, zones[0], seed_before(seed));
  fill(*device_, zones[1], seed_after(seed));
  fingerprints_ = device_->fingerprints(zones);
}

std::pair<std::size_t, std::size_t> PlacedTensor::changed(const MemoryRange& zone,
                                                          std::uint64_t seed) const {
  std::vector<std::byte> found(zone.bytes);
  if (zone.bytes == 0) return {0, 0};
  device_->download(found.data(), zone.address, zone.bytes);
  std::size_t first = zone.bytes;
  std::size_t last = 0;
  for (std::size_t i = 0; i < zone.bytes; i += word) {
    const unsigned armed = poison_bits(seed, i / word);
    for (std::size_t k = 0; k < word; ++k) {
      if (found[i + k] == reinterpret_cast<const std::byte*>(&armed)[k]) continue;
      first = std::min(first, i + k);
      last = i + k + 1;
    }
  }
  return {std::min(first, last), last};
}

std::optional<std::string> PlacedTensor::broken() const {
  const std::array<MemoryRange, 2> zones = {before(), after()};
  if (device_->fingerprints(zones) == fingerprints_) return std::nullopt;
  if (const auto [first, last] = changed(zones[0], seed_before(seed_)); first != last) {
    return fmt::format("tensor {}: written {} bytes before its beginning", name_,
                       zones[0].bytes - first);
  }
  const auto [first, last] = changed(zones[1], seed_after(seed_));
  return fmt::format("tensor {}: written {} bytes past its end", name_, last);
}

}  // namespace fusebench
