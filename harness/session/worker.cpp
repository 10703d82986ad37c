#include "harness/session/worker.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>

#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/measure/ceilings.hpp"
#include "harness/session/line_channel.hpp"
#include "harness/verify/verifier.hpp"

namespace fusebench {
namespace {

void take_verdict(const Verdict& verdict, Record& record) {
  const Comparison& comparison = verdict.comparison;
  record.max_abs_error = comparison.max_abs_error;
  record.max_rel_error = comparison.max_rel_error;
  record.within_1e4 = comparison.outside_1e4 == 0 && verdict.right;
  record.bit_equal_percent = comparison.bit_equal_percent();
  record.outcome = verdict.right ? Outcome::passed : Outcome::wrong;
  record.reason = verdict.reason;
}

bool control_is_right(const Control& control, Device& device, const Buffer& to,
                      const Buffer& from) {
  if (control.streams == 2) {
    return device.fingerprint(to.address(), to.bytes()) ==
           device.fingerprint(from.address(), from.bytes());
  }
  const auto view = device.host_view(to.address(), to.bytes());
  for (std::size_t i = 0; i < view.size(); i += sizeof fill_word) {
    if (std::memcmp(view.data() + i, &fill_word, sizeof fill_word) != 0) return false;
  }
  return true;
}

}  // namespace

JobRunner::JobRunner(DeviceKind kind, DeviceOptions options,
                     std::function<void(const std::string&)> on_phase)
    : kind_(kind), options_(std::move(options)), on_phase_(std::move(on_phase)) {}

Device& JobRunner::device() {
  if (!device_) device_ = open_device(kind_, options_);
  return *device_;
}

Workbench& JobRunner::bench(const Operator& op, const Problem& problem, std::uint64_t seed) {
  const std::string key = fmt::format("{} {} {}", op.name(), problem.to_string(), seed);
  if (key != bench_key_) {
    bench_.reset();  // first, so that two problems need never fit at once
    bench_key_.clear();
    bench_ = std::make_unique<Workbench>(op, problem, seed, device());
    bench_key_ = key;
  }
  return *bench_;
}

JobResult JobRunner::run(const Job& job) {
  JobResult result;
  result.record = record_of(job, kind_);
  Record& record = result.record;
  const auto give_up = [&](Outcome outcome, const std::string& reason) {
    record.outcome = outcome;
    record.reason = reason;
    clear_times(record);
    result.samples.clear();
  };
  try {
    on_phase_("prepare");
    const DeviceTraits& traits = device().traits();
    record.device_name = traits.name;
    record.driver = traits.driver;
    record.toolkit = traits.toolkit;
    record.clock_policy = traits.clock_policy;
    job.control ? run_control(job, result) : run_variant(job, result);
    record.temperature_c = device().temperature_c();
  } catch (const Unavailable& reason) {
    give_up(Outcome::unavailable, reason.what());
  } catch (const std::bad_alloc&) {
    give_up(Outcome::unavailable, "not enough memory on the host");
  } catch (const std::exception& error) {
    give_up(Outcome::failed, error.what());
  } catch (...) {
    give_up(Outcome::failed, "it threw something that is no std::exception");
  }
  return result;
}

void JobRunner::measure(const Job& job, const std::function<void()>& call, JobResult& result) {
  on_phase_("measure");
  if (!stopwatch_) stopwatch_ = device().stopwatch();
  const Timing timing =
      take_samples(*stopwatch_, call, job.limits, device().traits().nominal_clock_mhz);
  summarise(timing, result.record);
  result.samples = timing.samples;
  const auto throttled = std::count_if(timing.samples.begin(), timing.samples.end(),
                                       [](const Sample& sample) { return sample.throttled; });
  if (throttled > 0) {
    result.notes.push_back(fmt::format("{} of {} samples with the SM clock under 90% of {:.0f} MHz",
                                       throttled, timing.samples.size(),
                                       device().traits().nominal_clock_mhz));
  }
  if (!timing.graph_note.empty()) result.notes.push_back(timing.graph_note);
}

void JobRunner::run_variant(const Job& job, JobResult& result) {
  const Operator& op = registry().find_operator(job.operator_name);
  const Variant& variant = registry().find_variant(job.operator_name, job.variant);
  const VariantInfo& info = variant.info();
  Record& record = result.record;
  record.precision = info.precision;
  if (const auto reason = variant.unavailable(device().traits())) throw Unavailable("{}", *reason);
  const Configuration configuration = info.parameters.parse(job.configuration);

  // Odd sizes first: they are small, and what fails there need not be timed.
  for (const Problem& odd : op.odd_problems()) {
    Workbench small(op, odd, job.seed, device());
    const auto plan = variant.prepare(odd, configuration, device());
    on_phase_("verify");
    const Verdict verdict = verify_once(*plan, small, device(), info.precision);
    if (!verdict.right) {
      take_verdict(verdict, record);
      record.reason = fmt::format("at {}: {}", odd.to_string(), verdict.reason);
      return;
    }
  }

  on_phase_("prepare");
  const Problem problem = op.parse_problem(job.problem);
  Workbench& tensors = bench(op, problem, job.seed);
  const auto plan = variant.prepare(problem, configuration, device());
  on_phase_("verify");
  take_verdict(verify_once(*plan, tensors, device(), info.precision), record);
  if (record.outcome != Outcome::passed || !job.measure) return;

  tensors.prepare();
  record.useful_bytes = op.useful_bytes(problem);
  measure(
      job, [&] { plan->enqueue(tensors.tensors()); }, result);
  // What it computed while it was timed must be as right as what it computed while it was watched.
  on_phase_("verify");
  device().synchronise();
  const Verdict after = judge_output(tensors, info.precision);
  if (!after.right) {
    take_verdict(after, record);
    record.reason = "right before timing, wrong after: " + after.reason;
    clear_times(record);
    result.samples.clear();
  }
}

void JobRunner::run_control(const Job& job, JobResult& result) {
  const std::vector<Control> controls = device().controls();
  const auto control = std::find_if(controls.begin(), controls.end(),
                                    [&](const Control& c) { return c.name == job.variant; });
  if (control == controls.end()) throw Error("no control '{}' on this device", job.variant);
  require_memory("control " + job.variant, 2 * job.bytes, device().traits());
  const auto bytes = static_cast<std::size_t>(job.bytes);
  const Buffer from = device().allocate(bytes);
  const Buffer to = device().allocate(bytes);
  const auto words = static_cast<std::int64_t>(bytes / sizeof(float));
  device().generate(static_cast<float*>(from.address()), words, {.stream = 1}, job.seed);
  device().poison(static_cast<float*>(to.address()), words, job.seed);
  const auto call = [&] { control->enqueue(to.address(), from.address(), bytes); };
  on_phase_("verify");
  call();
  device().synchronise();
  result.record.precision = Precision::exact_order;
  result.record.outcome =
      control_is_right(*control, device(), to, from) ? Outcome::passed : Outcome::wrong;
  if (result.record.outcome != Outcome::passed) {
    result.record.reason = "the control did not move the data";
    return;
  }
  result.record.useful_bytes = control->streams * job.bytes;
  if (job.measure) measure(job, call, result);
}

int serve_jobs(int descriptor, DeviceKind kind, const DeviceOptions& options) {
  LineChannel channel(descriptor);
  JobRunner runner(kind, options, [&](const std::string& phase) {
    channel.write(nlohmann::json{{"phase", phase}}.dump());
  });
  while (const auto line = channel.read()) {
    const JobResult result = runner.run(nlohmann::json::parse(*line).get<Job>());
    // What a candidate throws need not be UTF-8.
    channel.write(nlohmann::json{{"result", result}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return 0;
}

}  // namespace fusebench
