// What is to be judged and timed, and what came of it; as JSON for a worker that judges in our place.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/core/operator.hpp"
#include "harness/core/record.hpp"
#include "harness/measure/sampler.hpp"

namespace fusebench {

struct Job {
  bool control = false;  ///< `variant` names a control; `bytes` says how much it moves
  std::string operator_name;
  std::string variant;
  std::string configuration;  ///< as Configuration::to_string gives it
  std::string problem;        ///< as Problem::to_string gives it
  int replica = 0;            ///< from 0; each has a worker of its own
  std::uint64_t seed = 0;
  std::int64_t bytes = 0;
  Battery battery = Battery::quick;
  bool battery_passed = false;  ///< in this command already: only the timed problem is verified
  bool measure = true;
  SamplingLimits limits;
};

/// Where a job's time went, in nanoseconds; none of it is another's part.
struct JobTimes {
  double compile_ns = 0.0;  ///< making the plans: compiling, or finding what was compiled
  double verify_ns = 0.0;   ///< the battery, and the timed problem before it is timed
  double measure_ns = 0.0;  ///< the samples, each with its new inputs and its verdict
};

struct JobResult {
  Record record;
  JobTimes times;
  std::vector<Sample> samples;
  std::vector<std::string> notes;  ///< what a person should know: throttled samples, no graph time
};

/// A record that says which job it is of, and nothing yet of how it went.
[[nodiscard]] Record record_of(const Job& job, DeviceKind device);

void to_json(nlohmann::json& json, const Job& job);
void from_json(const nlohmann::json& json, Job& job);
void to_json(nlohmann::json& json, const JobResult& result);
void from_json(const nlohmann::json& json, JobResult& result);

}  // namespace fusebench
