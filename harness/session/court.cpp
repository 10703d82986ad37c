#include "harness/session/court.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/core/added_time.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/measure/ceilings.hpp"
#include "harness/session/judged_calls.hpp"
#include "harness/trace/variant_key.hpp"
#include "harness/verify/control_operator.hpp"

namespace fusebench {
namespace {

constexpr std::size_t most_skips_told = 3;

void take_errors(const Verdict& verdict, Record& record) {
  record.max_abs_error = verdict.tally.max_abs_error;
  record.max_rel_error = verdict.tally.max_rel_error;
  record.within_1e4 = verdict.tally.outside_1e4 == 0 && verdict.right;
  record.bit_equal_percent = verdict.tally.bit_equal_percent();
}

void note_throttling(const Timing& timing, double nominal_mhz, JobResult& result) {
  const auto throttled = std::count_if(timing.samples.begin(), timing.samples.end(),
                                       [](const Sample& sample) { return sample.throttled; });
  if (throttled == 0) return;
  result.notes.push_back(fmt::format("{} of {} samples with the SM clock under 90% of {:.0f} MHz",
                                     throttled, timing.samples.size(), nominal_mhz));
}

PlanRequest request_of(const Job& job, const Problem& problem) {
  return {job.control, job.operator_name, job.variant, job.configuration, problem.to_string()};
}

}  // namespace

Workbench& Court::bench(const Operator& op, const Problem& problem, const Placement& placement,
                        std::uint64_t seed) {
  const std::string key = fmt::format("{} {} {} {} {}", op.name(), op.summary(),
                                      problem.to_string(), placement.name, seed);
  if (key != bench_key_) {
    bench_.reset();  // first, so that two problems need never fit at once
    bench_key_.clear();
    bench_ = std::make_unique<Workbench>(op, problem, official_inputs(op, problem), placement, seed,
                                         *device_);
    bench_key_ = key;
  }
  return *bench_;
}

void Court::run(const Job& job, Candidate& candidate, const Phases& on_phase, JobResult& result,
                PhaseListener* timeline) {
  timeline_ = timeline;
  key_ = variant_key(job.operator_name, job.variant, job.configuration, job.problem,
                     device_->traits().kind);
  const double prepared_before = candidate.prepare_ns();
  double all_ns = 0.0;
  const auto split = [&] {
    JobTimes& times = result.times;
    times.compile_ns = candidate.prepare_ns() - prepared_before;
    times.verify_ns = all_ns - times.compile_ns - times.measure_ns;
  };
  try {
    const AddedTime timer(all_ns);
    judge(job, candidate, on_phase, result);
    if (timeline_ != nullptr) {
      timeline_->conclude(key_, result.record.outcome, result.record.median_ns.value_or(0.0));
    }
  } catch (...) {
    split();
    throw;
  }
  split();
}

void Court::judge(const Job& job, Candidate& candidate, const Phases& on_phase, JobResult& result) {
  Record& record = result.record;
  record.judge = where_;
  record.battery = to_string(job.battery);
  const auto give_up = [&](Outcome outcome, const std::string& reason) {
    record.outcome = outcome;
    record.reason = reason;
    clear_times(record);
    result.samples.clear();
  };
  try {
    enter(Phase::verify);
    std::optional<Control> control;
    if (job.control) control = find_control(*device_, job.variant);
    const Operator& op = control ? control_as_operator(control->streams)
                                 : registry().find_operator(job.operator_name);
    const Problem problem =
        job.control ? control_problem(job.bytes / static_cast<std::int64_t>(sizeof(float)))
                    : op.parse_problem(job.problem);
    record.precision = Precision::exact_order;
    Placement placement;
    Verdict verdict;
    if (!job.control) {
      const VariantInfo& info = registry().find_variant(job.operator_name, job.variant).info();
      record.precision = info.precision;
      placement = placements(info.in_place).front();
      if (!job.battery_passed) {
        verdict = try_battery(job, op, info, candidate, on_phase, result);
      }
    }
    if (verdict.right) {
      on_phase("verify at " + job.problem);
      record.useful_bytes = op.useful_bytes(problem);
      record.flops =
          control ? control->flops_a_float * problem.size("elements") : op.flops(problem);
      verdict = time_it(job, op, problem, placement, rule_of(op, record.precision), candidate,
                        on_phase, result);
      ++record.cases;
    }
    // A control has no errors to speak of: it is right or it is not.
    if (!job.control) take_errors(verdict, record);
    if (verdict.right) {
      record.outcome = Outcome::passed;
    } else {
      give_up(Outcome::wrong, verdict.reason);
    }
  } catch (const Unavailable& reason) {
    give_up(Outcome::unavailable, reason.what());
  } catch (const std::bad_alloc&) {
    give_up(Outcome::unavailable, "not enough memory on the host");
  } catch (const Error& error) {
    give_up(Outcome::failed, error.what());
  }
}

// Small cases first: what fails there need not be timed. A case that the device or the variant refuses
// is no verdict, but it is told.
Verdict Court::try_battery(const Job& job, const Operator& op, const VariantInfo& info,
                           Candidate& candidate, const Phases& on_phase, JobResult& result) {
  const AcceptanceRule rule = rule_of(op, info.precision);
  const Variant& variant = registry().find_variant(job.operator_name, job.variant);
  std::vector<std::string> skipped;
  std::size_t refused = 0;
  std::string refusal;  // of the first that it refused
  for (const Case& one : battery_cases(op, info, job.battery)) {
    on_phase("verify at " + one.name());
    if (const auto reason = variant.refuses(one.problem)) {
      if (++refused == 1) refusal = *reason;
      continue;
    }
    if (!within_range(op, one, info.precision, job.seed)) {
      skipped.push_back(fmt::format("{} (its inputs leave the range of contract {})", one.name(),
                                    to_string(info.precision)));
      continue;
    }
    try {
      Verdict verdict =
          examine(op, one, request_of(job, one.problem), rule, job.seed, *device_, candidate);
      if (!verdict.right) {
        verdict.reason = fmt::format("at {}: {}", one.name(), verdict.reason);
        result.record.plan = candidate.description();
        return verdict;
      }
      ++result.record.cases;
    } catch (const Unavailable& reason) {
      skipped.push_back(fmt::format("{} ({})", one.name(), reason.what()));
    } catch (const Error& error) {
      throw Error("at {}: {}", one.name(), error.what());
    }
  }
  for (std::size_t i = 0; i < std::min(skipped.size(), most_skips_told); ++i) {
    result.notes.push_back("not verified at " + skipped[i]);
  }
  if (refused > 0) {
    result.notes.push_back(fmt::format(
        "not verified at {} cases that it does not do, the first since it {}", refused, refusal));
  }
  if (skipped.size() > most_skips_told) {
    result.notes.push_back(fmt::format("nor at {} more cases", skipped.size() - most_skips_told));
  }
  if (result.record.cases == 0 && (refused > 0 || !skipped.empty())) {
    throw Unavailable("it can be verified in no case: {}",
                      skipped.empty() ? refusal : skipped.front());
  }
  return {};
}

Verdict Court::time_it(const Job& job, const Operator& op, const Problem& problem,
                       const Placement& placement, const AcceptanceRule& rule, Candidate& candidate,
                       const Phases& on_phase, JobResult& result) {
  Workbench& tensors = bench(op, problem, placement, job.seed);
  enter(Phase::prepare);
  candidate.prepare(request_of(job, problem), tensors.views());
  enter(Phase::verify);
  result.record.plan = candidate.description();
  tensors.renew(job.seed);
  // What the record's errors speak of: the inputs that the seed names.
  Verdict verdict = verify_once(candidate, tensors, *device_, rule);
  if (!verdict.right) return verdict;
  if (!job.control && device_->traits().kind == DeviceKind::cuda && candidate.launches() == 0) {
    return {false, "it is right, but launched no kernel of its own: something else computed it",
            verdict.tally};
  }
  const Verdict gate = check_gate(candidate, tensors, *device_);
  if (!gate.right) return {false, gate.reason, verdict.tally};
  if (!job.measure) return verdict;

  on_phase("measure");
  const AddedTime timer(result.times.measure_ns);
  JudgedCalls calls(candidate, tensors, rule, *device_, job.seed);
  try {
    const double nominal_mhz = device_->traits().nominal_clock_mhz;
    TimedCalls timed = calls.timed();
    timed.entering = [this](Phase phase) { enter(phase); };
    const Timing timing = take_samples(timed, job.limits, nominal_mhz);
    summarise(timing, result.record);
    result.samples = timing.samples;
    note_throttling(timing, nominal_mhz, result);
    if (!timing.graph_note.empty()) result.notes.push_back(timing.graph_note);
    const double median_ns = result.record.median_ns.value_or(0.0);
    if (const auto reason = doubt_times(calls, median_ns)) {
      return {false, *reason, verdict.tally};
    }
  } catch (const WrongOutput& wrong) {
    return wrong.verdict;
  }
  return verdict;
}

}  // namespace fusebench
