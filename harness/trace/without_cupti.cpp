// Stands in for CUPTI in a build made without its headers.
#include "harness/core/error.hpp"
#include "harness/trace/device_recorder.hpp"

namespace fusebench {

std::unique_ptr<DeviceRecorder> open_cupti() {
  throw Unavailable("this build has no CUPTI: cupti_activity.h was not found; install the CUDA "
                    "Toolkit with CUPTI and build again");
}

}  // namespace fusebench
