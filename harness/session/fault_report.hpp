// The last words of a worker: which tensor it touched where it must not.
#pragma once

#include <cstddef>
#include <string>

namespace fusebench {

/// From now on a segmentation fault, before it kills the process, is told to the judge over `descriptor`.
void report_faults(int descriptor);

/// The tensors that faults are told by: number `index` of at most 8 lies at `begin`.
void name_tensor(std::size_t index, const std::string& name, const void* begin, std::size_t bytes);

}  // namespace fusebench
