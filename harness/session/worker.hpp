// The worker process: it runs candidates for a judge in another process, and may die of it.
#pragma once

#include "harness/device/device.hpp"

namespace fusebench {

/// Answers the judge's questions from `descriptor` until it closes: those of Candidate; and judge, a whole job, where memory cannot be shared.
/// Returns the process's exit code.
int serve_judge(int descriptor, DeviceKind kind, const DeviceOptions& options);

}  // namespace fusebench
