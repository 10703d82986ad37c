// A timeline as JSON in Chrome's trace event format, for ui.perfetto.dev and chrome://tracing.
#pragma once

#include <cstdint>
#include <string>

#include "harness/trace/timeline.hpp"

namespace fusebench {

/// Microseconds since `base_ns` with three decimals, by whole numbers only, so that no digit is lost: "1234.567".
/// Before the base it is "0.000".
[[nodiscard]] std::string microseconds(std::uint64_t ns, std::uint64_t base_ns);

/// An object with "traceEvents", one on a line: first names and order of processes and threads, then X events by time, each
/// with the flows that begin or end in it. The host is one process with a lane, or more, for each thread; a device is another
/// with one, or more, for each stream. Device work that an API call in the timeline has started is joined to it by an arrow. Texts
/// that are not UTF-8 have their bad bytes replaced. "otherData" says how many records were dropped or had no time.
[[nodiscard]] std::string chrome_trace(const Timeline& timeline);

}  // namespace fusebench
