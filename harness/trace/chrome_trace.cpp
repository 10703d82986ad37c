#include "harness/trace/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "harness/trace/lanes.hpp"

namespace fusebench {
namespace {

using nlohmann::json;

std::string quoted(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

enum class Arrow { none, from, to };

// An X event before it has a lane.
struct Slice {
  TimeSpan when;
  std::string category;
  std::string name;
  std::string arguments = {};  // "key":value,...
  Arrow arrow = Arrow::none;
  std::uint32_t correlation = 0;
};

// Everything of a thread or a stream.
struct Track {
  std::string name;
  std::vector<Slice> slices = {};
  Nesting nesting = Nesting::none;
};

struct Process {
  std::string name;
  std::map<std::int64_t, Track> tracks = {};
};

std::string call_arguments(const Timeline& timeline, std::size_t index) {
  const TracedCall& call = timeline.calls.at(index);
  std::string text = fmt::format("\"call\":{},\"iteration\":{}", index, call.iteration);
  if (call.event_ns) text += fmt::format(",\"event_ns\":{}", *call.event_ns);
  return text;
}

// Of a slice that begins nothing on the device the name says all.
Process host_process(const Timeline& timeline, std::set<std::uint32_t> arrows) {
  Process host{timeline.process_name};
  const auto track = [&](std::int64_t thread) -> Track& {
    const bool is_first = thread == timeline.process;
    Track& found = host.tracks[thread];
    found.name = is_first ? "main thread" : fmt::format("thread {}", thread);
    found.nesting = Nesting::allowed;
    return found;
  };
  for (const HostSpan& span : timeline.spans) {
    std::string arguments = span.call ? call_arguments(timeline, *span.call) : "";
    track(span.thread).slices.push_back({span.when, "harness", span.name, std::move(arguments)});
  }
  for (const ApiCall& call : timeline.api) {
    const Arrow arrow = arrows.erase(call.correlation) > 0 ? Arrow::from : Arrow::none;
    track(call.thread).slices.push_back({call.when, "api", call.name, "", arrow, call.correlation});
  }
  for (const Overhead& overhead : timeline.overheads) {
    track(overhead.thread).slices.push_back({overhead.when, "profiler", overhead.name});
  }
  return host;
}

std::string work_arguments(const Timeline& timeline, const DeviceWork& work) {
  std::string text;
  if (work.call) {
    const TracedCall& call = timeline.calls.at(*work.call);
    text =
        fmt::format("\"variant\":{},\"iteration\":{},\"call\":{}",
                    quoted(timeline.variants.at(call.variant).variant), call.iteration, *work.call);
  }
  const char* const comma = text.empty() ? "" : ",";
  if (work.kind == WorkKind::kernel) {
    return text + fmt::format("{}\"blocks\":{},\"threads\":{},\"registers\":{},\"shared_bytes\":{}",
                              comma, work.blocks, work.threads, work.registers, work.shared_bytes);
  }
  return text + fmt::format("{}\"bytes\":{}", comma, work.bytes);
}

// A graph's launch starts many pieces of work by one call: its one arrow goes to the first that is recorded.
std::map<std::uint32_t, Process> device_processes(const Timeline& timeline,
                                                  std::set<std::uint32_t> arrows) {
  std::map<std::uint32_t, Process> devices;
  for (const DeviceWork& work : timeline.work) {
    Process& device = devices[work.device];
    device.name = fmt::format("GPU {}", work.device);
    if (work.device == 0 && !timeline.device_name.empty())
      device.name += " " + timeline.device_name;
    Track& track = device.tracks[work.stream];
    track.name = fmt::format("stream {}", work.stream);
    const char* const category = work.kind == WorkKind::kernel   ? "kernel"
                                 : work.kind == WorkKind::memcpy ? "memcpy"
                                                                 : "memset";
    const Arrow arrow = arrows.erase(work.correlation) > 0 ? Arrow::to : Arrow::none;
    track.slices.push_back(
        {work.when, category, work.name, work_arguments(timeline, work), arrow, work.correlation});
  }
  return devices;
}

class Writer {
 public:
  explicit Writer(std::uint64_t base_ns) : base_ns_(base_ns) {}

  void add(std::int64_t pid, int order, const Process& process) {
    name("process_name", pid, 0, fmt::format("\"name\":{}", quoted(process.name)));
    name("process_sort_index", pid, 0, fmt::format("\"sort_index\":{}", order));
    // What is spilled needs numbers that no thread or stream has.
    std::int64_t next = process.tracks.empty() ? 0 : process.tracks.rbegin()->first + 1;
    int place = 0;
    for (const auto& [tid, track] : process.tracks) add(pid, tid, track, next, place);
  }

  std::string text(const std::string& other) {
    std::stable_sort(events_.begin(), events_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string all =
        "{\"displayTimeUnit\":\"ns\",\"otherData\":{" + other + "},\"traceEvents\":[\n";
    const char* comma = "";
    for (const std::string& line : names_) all += std::exchange(comma, ",\n") + line;
    for (const auto& [when, line] : events_) all += std::exchange(comma, ",\n") + line;
    return all + "\n]}\n";
  }

 private:
  void name(const char* what, std::int64_t pid, std::int64_t tid, const std::string& arguments) {
    names_.push_back(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{{}}}}})",
                                 what, pid, tid, arguments));
  }

  void add(std::int64_t pid, std::int64_t tid, const Track& track, std::int64_t& next, int& place) {
    std::vector<TimeSpan> times;
    for (const Slice& slice : track.slices) times.push_back(slice.when);
    const LaneLayout layout = lay_out(times, track.nesting);
    std::vector<std::int64_t> tids;
    for (const std::size_t i : layout.order) {
      while (tids.size() <= layout.lane[i]) {
        tids.push_back(tids.empty() ? tid : next++);
        const std::string more = tids.size() == 1 ? "" : fmt::format(" ({})", tids.size());
        name("thread_name", pid, tids.back(),
             fmt::format("\"name\":{}", quoted(track.name + more)));
        name("thread_sort_index", pid, tids.back(), fmt::format("\"sort_index\":{}", place++));
      }
      add(pid, tids[layout.lane[i]], track.slices[i]);
    }
  }

  void add(std::int64_t pid, std::int64_t tid, const Slice& slice) {
    const std::uint64_t end = std::max(slice.when.start_ns, slice.when.end_ns);
    const std::string ts = microseconds(slice.when.start_ns, base_ns_);
    std::string line = fmt::format(
        R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{})", slice.category,
        quoted(slice.name), pid, tid, ts, microseconds(end, slice.when.start_ns));
    if (!slice.arguments.empty()) line += fmt::format(",\"args\":{{{}}}", slice.arguments);
    line += '}';
    // Right behind its slice, which it binds to by time and thread.
    if (slice.arrow == Arrow::from) {
      line += fmt::format(
          ",\n"
          R"({{"ph":"s","cat":"launch","name":"launch","id":{},"pid":{},"tid":{},"ts":{}}})",
          slice.correlation, pid, tid, ts);
    } else if (slice.arrow == Arrow::to) {
      line += fmt::format(
          ",\n"
          R"({{"ph":"f","bp":"e","cat":"launch","name":"launch","id":{},"pid":{},"tid":{},"ts":{}}})",
          slice.correlation, pid, tid, ts);
    }
    events_.emplace_back(slice.when.start_ns, std::move(line));
  }

  std::uint64_t base_ns_;
  std::vector<std::string> names_;
  std::vector<std::pair<std::uint64_t, std::string>> events_;
};

std::uint64_t first_moment(const Timeline& timeline) {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  const auto look = [&](const auto& all) {
    for (const auto& one : all) first = std::min(first, one.when.start_ns);
  };
  look(timeline.spans);
  look(timeline.api);
  look(timeline.work);
  look(timeline.overheads);
  return first == std::numeric_limits<std::uint64_t>::max() ? 0 : first;
}

// An arrow needs both its ends.
std::set<std::uint32_t> correlations_with_both_ends(const Timeline& timeline) {
  std::set<std::uint32_t> begun;
  std::set<std::uint32_t> both;
  for (const ApiCall& call : timeline.api) begun.insert(call.correlation);
  for (const DeviceWork& work : timeline.work) {
    if (begun.contains(work.correlation)) both.insert(work.correlation);
  }
  return both;
}

}  // namespace

std::string microseconds(std::uint64_t ns, std::uint64_t base_ns) {
  const std::uint64_t since = ns > base_ns ? ns - base_ns : 0;
  return fmt::format("{}.{:03}", since / 1000, since % 1000);
}

std::string chrome_trace(const Timeline& timeline) {
  const std::set<std::uint32_t> arrows = correlations_with_both_ends(timeline);
  Writer writer(first_moment(timeline));
  writer.add(timeline.process, 0, host_process(timeline, arrows));
  for (const auto& [index, device] : device_processes(timeline, arrows)) {
    // Above the process's own, so that the two never meet.
    writer.add(timeline.process + 1 + index, static_cast<int>(index) + 1, device);
  }
  return writer.text(
      fmt::format("\"dropped_records\":{},\"timeless_records\":{},\"base_ns\":\"{}\"",
                  timeline.dropped, timeline.timeless, first_moment(timeline)));
}

}  // namespace fusebench
