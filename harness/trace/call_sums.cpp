#include "harness/trace/call_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace fusebench {
namespace {

constexpr double agreement_share = 0.02;
constexpr double agreement_ns = 1000.0;

std::uint64_t length(const TimeSpan& span) {
  return span.end_ns > span.start_ns ? span.end_ns - span.start_ns : 0;
}

// The spans of one call's work; overlapping ones count once.
void add_span_and_gaps(std::vector<TimeSpan> all, WorkSums& sums) {
  std::sort(all.begin(), all.end(),
            [](const TimeSpan& a, const TimeSpan& b) { return a.start_ns < b.start_ns; });
  std::uint64_t reached = all.front().start_ns;
  for (const TimeSpan& one : all) {
    if (one.start_ns > reached) sums.gap_ns += one.start_ns - reached;
    reached = std::max(reached, one.end_ns);
  }
  sums.span_ns += reached - all.front().start_ns;
}

std::map<std::size_t, WorkSums> sum_work(const Timeline& timeline) {
  std::map<std::size_t, WorkSums> of_variant;
  std::map<std::size_t, std::vector<TimeSpan>> of_call;
  const auto counts = [&](const std::optional<std::size_t>& call) {
    return call && !timeline.calls.at(*call).warmup;
  };
  for (const DeviceWork& work : timeline.work) {
    if (!counts(work.call)) continue;
    WorkSums& sums = of_variant[timeline.calls[*work.call].variant];
    of_call[*work.call].push_back(work.when);
    const std::uint64_t ns = length(work.when);
    switch (work.kind) {
      case WorkKind::kernel:
        ++sums.launches;
        sums.kernel_ns += ns;
        break;
      case WorkKind::memcpy: sums.memcpy_ns += ns; break;
      case WorkKind::memset: sums.memset_ns += ns; break;
    }
  }
  for (const auto& [call, spans] : of_call) {
    add_span_and_gaps(spans, of_variant[timeline.calls[call].variant]);
  }
  for (const ApiCall& api : timeline.api) {
    if (!counts(api.call)) continue;
    const auto found = of_variant.find(timeline.calls[*api.call].variant);
    if (found != of_variant.end()) found->second.api_ns += length(api.when);
  }
  return of_variant;
}

}  // namespace

std::vector<VariantSums> sum_calls(const Timeline& timeline) {
  std::map<std::size_t, VariantSums> of_variant;
  for (const TracedCall& call : timeline.calls) {
    if (call.warmup) continue;
    VariantSums& sums = of_variant[call.variant];
    sums.variant = call.variant;
    if (sums.iterations++ == 0) sums.event_ns = 0.0;
    if (sums.event_ns && call.event_ns) *sums.event_ns += *call.event_ns;
    if (!call.event_ns) sums.event_ns.reset();
  }
  for (const HostSpan& span : timeline.spans) {
    if (!span.call || timeline.calls.at(*span.call).warmup) continue;
    of_variant[timeline.calls[*span.call].variant].call_ns += length(span.when);
  }
  for (const auto& [variant, work] : sum_work(timeline)) of_variant[variant].work = work;
  std::vector<VariantSums> all;
  for (const auto& [variant, sums] : of_variant) all.push_back(sums);
  return all;
}

double events_take_ns(const Timeline& timeline) {
  for (const VariantSums& sums : sum_calls(timeline)) {
    if (sums.variant != timeline.least_call || !sums.work || !sums.event_ns) continue;
    const double beyond = *sums.event_ns - static_cast<double>(sums.work->span_ns);
    return std::max(0.0, beyond / static_cast<double>(sums.iterations));
  }
  return 0.0;
}

std::optional<double> disagreement_ns(const VariantSums& sums, double events_take_ns) {
  if (!sums.work || !sums.event_ns || sums.iterations == 0) return std::nullopt;
  const auto calls = static_cast<double>(sums.iterations);
  const double event = *sums.event_ns / calls - events_take_ns;
  const double difference = std::abs(event - static_cast<double>(sums.work->span_ns) / calls);
  if (!(difference > agreement_ns && difference > agreement_share * event)) return std::nullopt;
  return difference;
}

std::vector<std::string> sums_columns() {
  return {"operator",   "variant",   "configuration", "problem", "device",
          "iterations", "launches",  "kernel_ns",     "gap_ns",  "span_ns",
          "memcpy_ns",  "memset_ns", "api_ns",        "call_ns", "event_ns"};
}

std::vector<std::string> sums_row(const TracedVariant& variant, const VariantSums& sums) {
  std::vector<std::string> row = {variant.operator_name,
                                  variant.variant,
                                  variant.configuration,
                                  variant.problem,
                                  std::string(to_string(variant.device)),
                                  std::to_string(sums.iterations)};
  if (const auto& work = sums.work) {
    row.push_back(std::to_string(work->launches));
    for (const std::uint64_t ns : {work->kernel_ns, work->gap_ns, work->span_ns, work->memcpy_ns,
                                   work->memset_ns, work->api_ns}) {
      row.push_back(std::to_string(ns));
    }
  } else {
    row.insert(row.end(), 7, "");
  }
  row.push_back(std::to_string(sums.call_ns));
  row.push_back(sums.event_ns ? fmt::format("{}", *sums.event_ns) : "");
  return row;
}

}  // namespace fusebench
