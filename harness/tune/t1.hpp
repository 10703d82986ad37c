// T1: a tuning problem as the FAIR benchmark hub describes it, read for its space.
#pragma once

#include <string>

#include "harness/tune/search_space.hpp"

namespace fusebench {

/// The space of a T1 file, plain or gzipped: ConfigurationSpace.TuningParameters with Values (a list, or one
/// as text), and Conditions, whose Expression may name problem_size_x, _y and _z where
/// KernelSpecification.ProblemSize has them. A condition's own list of parameters is not read: files in use
/// leave some out.
/// Throws Error, naming the file, where it is none or its space is none.
[[nodiscard]] SearchSpace read_t1(const std::string& path);

}  // namespace fusebench
