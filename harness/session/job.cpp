#include "harness/session/job.hpp"

#include <nlohmann/json.hpp>

namespace fusebench {

using nlohmann::json;

Record record_of(const Job& job, DeviceKind device) {
  Record record;
  record.operator_name = job.operator_name;
  record.variant = job.variant;
  record.configuration = job.configuration;
  record.problem = job.problem;
  record.device = device;
  record.replica = job.replica;
  record.seed = job.seed;
  return record;
}

void to_json(json& out, const Job& job) {
  out = {{"control", job.control},
         {"operator", job.operator_name},
         {"variant", job.variant},
         {"configuration", job.configuration},
         {"problem", job.problem},
         {"replica", job.replica},
         {"seed", job.seed},
         {"bytes", job.bytes},
         {"battery", to_string(job.battery)},
         {"battery_passed", job.battery_passed},
         {"measure", job.measure},
         {"min_samples", job.limits.min_samples},
         {"max_samples", job.limits.max_samples},
         {"max_seconds", job.limits.max_seconds},
         {"target_width", job.limits.target_width}};
}

void from_json(const json& in, Job& job) {
  in.at("control").get_to(job.control);
  in.at("operator").get_to(job.operator_name);
  in.at("variant").get_to(job.variant);
  in.at("configuration").get_to(job.configuration);
  in.at("problem").get_to(job.problem);
  in.at("replica").get_to(job.replica);
  in.at("seed").get_to(job.seed);
  in.at("bytes").get_to(job.bytes);
  job.battery = parse_battery(in.at("battery").get<std::string>());
  in.at("battery_passed").get_to(job.battery_passed);
  in.at("measure").get_to(job.measure);
  in.at("min_samples").get_to(job.limits.min_samples);
  in.at("max_samples").get_to(job.limits.max_samples);
  in.at("max_seconds").get_to(job.limits.max_seconds);
  in.at("target_width").get_to(job.limits.target_width);
}

void to_json(json& out, const JobResult& result) {
  out = {{"record", result.record},
         {"samples", result.samples},
         {"notes", result.notes},
         {"compile_ns", result.times.compile_ns},
         {"verify_ns", result.times.verify_ns},
         {"measure_ns", result.times.measure_ns}};
}

void from_json(const json& in, JobResult& result) {
  in.at("record").get_to(result.record);
  in.at("samples").get_to(result.samples);
  in.at("notes").get_to(result.notes);
  in.at("compile_ns").get_to(result.times.compile_ns);
  in.at("verify_ns").get_to(result.times.verify_ns);
  in.at("measure_ns").get_to(result.times.measure_ns);
}

}  // namespace fusebench
