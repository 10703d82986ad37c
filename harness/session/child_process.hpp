// What both kinds of children, workers and other builds' programs, need.
#pragma once

#include <sys/types.h>

namespace fusebench {

/// Whether it has ended; it stays to be reaped. Not whether its pipes are closed: what it has started may hold those, and
/// live on.
[[nodiscard]] bool has_died(pid_t process) noexcept;

/// Kills a child that leads a group of its own, and what it has started. Before it is reaped: until then the group's number
/// is its own.
void kill_group(pid_t process) noexcept;

}  // namespace fusebench
