// Visits the fields of a Record in the order of the CSV's columns, so that CSV, JSON and the worker
// protocol cannot drift apart.
#pragma once

#include "harness/core/record.hpp"

namespace fusebench {

/// Calls visit(column_name, field) for each column; `R` is Record or const Record.
template <typename R, typename Visitor>
void visit_fields(R& r, Visitor&& visit) {
  visit("schema_version", r.schema_version);
  visit("run_id", r.run_id);
  visit("timestamp_utc", r.timestamp_utc);
  visit("git_commit", r.git_commit);
  visit("dirty", r.dirty);
  visit("operator", r.operator_name);
  visit("variant", r.variant);
  visit("configuration", r.configuration);
  visit("problem", r.problem);
  visit("device", r.device);
  visit("precision", r.precision);
  visit("replica", r.replica);
  visit("seed", r.seed);
  visit("outcome", r.outcome);
  visit("reason", r.reason);
  visit("samples", r.samples);
  visit("stop_reason", r.stop_reason);
  visit("median_ns", r.median_ns);
  visit("q1_ns", r.q1_ns);
  visit("q3_ns", r.q3_ns);
  visit("min_ns", r.min_ns);
  visit("cv", r.cv);
  visit("ci_low_ns", r.ci_low_ns);
  visit("ci_high_ns", r.ci_high_ns);
  visit("back_to_back_ns", r.back_to_back_ns);
  visit("graph_ns", r.graph_ns);
  visit("useful_bytes", r.useful_bytes);
  visit("throughput_gbps", r.throughput_gbps);
  visit("ceiling_percent", r.ceiling_percent);
  visit("max_abs_error", r.max_abs_error);
  visit("max_rel_error", r.max_rel_error);
  visit("within_1e4", r.within_1e4);
  visit("bit_equal_percent", r.bit_equal_percent);
  visit("device_name", r.device_name);
  visit("driver", r.driver);
  visit("toolkit", r.toolkit);
  visit("clock_policy", r.clock_policy);
  visit("sm_clock_mhz", r.sm_clock_mhz);
  visit("temperature_c", r.temperature_c);
  visit("battery", r.battery);
  visit("cases", r.cases);
  visit("judge", r.judge);
  visit("plan", r.plan);
  visit("in_place", r.in_place);
  visit("flops", r.flops);
}

}  // namespace fusebench
