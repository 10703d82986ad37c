#include "harness/measure/ceilings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fusebench {
namespace {

// A smaller control on a CPU times the waking of threads, and says nothing about memory.
constexpr std::int64_t fewest_trusted_bytes = std::int64_t{16} << 20;

}  // namespace

void Ceilings::add(const Record& record) {
  if (record.operator_name != control_operator || !record.throughput_gbps) return;
  if (record.variant == "fma") return;  // waits for no memory
  auto& ceiling = record.variant == "fill" ? fill_gbps : copy_gbps;
  ceiling = std::max(ceiling.value_or(0.0), *record.throughput_gbps);
  if (record.min_ns && record.useful_bytes >= fewest_trusted_bytes) {
    fastest_gbps =
        std::max(fastest_gbps, static_cast<double>(record.useful_bytes) / *record.min_ns);
  }
}

double physical_floor_ns(std::int64_t read_bytes, std::int64_t written_bytes,
                         std::int64_t cache_bytes, double peak_gbps) {
  if (peak_gbps <= 0) return 0.0;
  const std::int64_t written_back = std::max<std::int64_t>(0, written_bytes - cache_bytes);
  return static_cast<double>(read_bytes + written_back) / peak_gbps;
}

double floor_bandwidth_gbps(const DeviceTraits& traits, const Ceilings& ceilings) {
  if (traits.peak_gbps > 0) return traits.peak_gbps;
  return 2.0 * ceilings.fastest_gbps;
}

void apply_ceilings(Record& record, const Ceilings& ceilings, const DeviceTraits& traits,
                    std::int64_t read_bytes, std::int64_t written_bytes) {
  if (!record.median_ns) return;
  const double bandwidth = floor_bandwidth_gbps(traits, ceilings);
  const double floor = physical_floor_ns(read_bytes, written_bytes, traits.cache_bytes, bandwidth);
  if (*record.median_ns < floor) {
    record.outcome = Outcome::failed;
    record.reason = fmt::format("a median of {:.0f} ns is under the physical floor of {:.0f} ns "
                                "({:.0f} bytes that must cross "
                                "the memory bus at {:.1f} GB/s): "
                                "something is cached or not done",
                                *record.median_ns, floor, floor * bandwidth, bandwidth);
    clear_times(record);
    return;
  }
  if (ceilings.copy_gbps && record.throughput_gbps && record.operator_name != control_operator) {
    record.ceiling_percent = 100.0 * *record.throughput_gbps / *ceilings.copy_gbps;
  }
}

void clear_times(Record& record) {
  for (auto* field : {&record.median_ns, &record.q1_ns, &record.q3_ns, &record.min_ns, &record.cv,
                      &record.ci_low_ns, &record.ci_high_ns, &record.back_to_back_ns,
                      &record.graph_ns, &record.throughput_gbps, &record.ceiling_percent}) {
    field->reset();
  }
  record.sm_clock_mhz.reset();
  record.samples = 0;
  record.stop_reason.clear();
}

}  // namespace fusebench
