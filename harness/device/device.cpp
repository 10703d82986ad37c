#include "harness/device/device.hpp"

namespace fusebench {

DeviceStatus probe_device(DeviceKind kind) {
  return kind == DeviceKind::cpu ? probe_cpu() : probe_cuda();
}

std::unique_ptr<Device> open_device(DeviceKind kind, const DeviceOptions& options) {
  return kind == DeviceKind::cpu ? open_cpu(options) : open_cuda(options);
}

}  // namespace fusebench
