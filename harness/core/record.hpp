// One row of results: everything the CSV holds of one replica of one configuration.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/outcome.hpp"

namespace fusebench {

/// The operator column of the controls' rows.
inline constexpr const char* control_operator = "control";

/// Times in nanoseconds, rates in 10^9 bytes per second, shares in percent. An absent optional is an
/// empty CSV field: the figure does not exist, e.g. a time of a result that is wrong.
struct Record {
  int schema_version = 1;
  std::string run_id;
  std::string timestamp_utc;
  std::string git_commit;
  bool dirty = false;
  bool in_place = false;  ///< every call's output was the first input's memory
  std::string operator_name;
  std::string variant;
  std::string configuration;
  std::string problem;
  DeviceKind device = DeviceKind::cpu;
  Precision precision = Precision::float32;
  int replica = 0;
  std::uint64_t seed = 0;
  Outcome outcome = Outcome::failed;
  std::string reason;
  std::int64_t samples = 0;
  std::string stop_reason;
  std::optional<double> median_ns, q1_ns, q3_ns, min_ns;
  std::optional<double> cv;                     ///< standard deviation over mean
  std::optional<double> ci_low_ns, ci_high_ns;  ///< 95% interval of the median
  std::optional<double> back_to_back_ns;        ///< per call, warm, many in a row
  std::optional<double> graph_ns;               ///< per call inside a CUDA graph of many
  std::int64_t useful_bytes = 0;
  std::optional<double> throughput_gbps;
  std::optional<double> ceiling_percent;    ///< of the best copy measured in this run
  std::optional<double> max_abs_error;      ///< against the float64 oracle
  std::optional<double> max_rel_error;      ///< likewise, where the oracle is not zero
  std::optional<bool> within_1e4;           ///< |y - exact| <= 1e-4 + 1e-4 |exact| everywhere
  std::optional<double> bit_equal_percent;  ///< with the exact reference order
  std::string device_name;
  std::string driver;
  std::string toolkit;
  std::string clock_policy;
  std::optional<double> sm_clock_mhz;  ///< median over the samples
  std::optional<double> temperature_c;
  std::string battery;     ///< how thoroughly it was verified: quick, full, exhaustive
  std::int64_t cases = 0;  ///< verified, the timed problem among them
  std::string
      judge;  ///< where the verdict was found: "parent" or, with no memory to share, "worker"
  std::int64_t flops = 0;  ///< operations that the definition asks for; of a control those it does
  std::string plan;  ///< what the timed plan says of itself: a library's engine, version, workspace
};

/// One timed call.
struct Sample {
  double ns = 0.0;
  double sm_clock_mhz =
      0.0;  ///< the lower of two readings on the device, right before and right after
            ///< the call; 0 where there is none
  bool throttled = false;  ///< the clock was under 90% of the nominal one
};

/// "operator variant configuration problem device": the identity of a series across runs.
[[nodiscard]] std::string series_key(const Record& record);

void to_json(nlohmann::json& json, const Record& record);
void from_json(const nlohmann::json& json, Record& record);
void to_json(nlohmann::json& json, const Sample& sample);
void from_json(const nlohmann::json& json, Sample& sample);

}  // namespace fusebench
