#include "harness/core/properties.hpp"

namespace fusebench {

Properties properties_of(const Problem& problem, const std::optional<DeviceTraits>& device) {
  Properties properties;
  for (const auto& [name, size] : problem.sizes()) properties[name] = size;
  if (!device) return properties;
  properties["processors"] = std::int64_t{device->processors};
  properties["cache_bytes"] = device->cache_bytes;
  properties["memory_bytes"] = device->memory_bytes;
  properties["shared_memory_bytes"] = device->shared_memory_bytes;
  if (device->architecture) properties["architecture"] = std::int64_t{device->architecture->number};
  return properties;
}

}  // namespace fusebench
