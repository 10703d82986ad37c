#include "harness/session/court.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "harness/core/error.hpp"
#include "harness/core/generator.hd.hpp"
#include "harness/core/registry.hpp"
#include "harness/measure/ceilings.hpp"
#include "harness/session/host_clock.hpp"
#include "harness/verify/control_operator.hpp"

namespace fusebench {
namespace {

constexpr std::uint64_t contents_stream = 0xC047;
constexpr double queuing_ns = 6'000;
constexpr std::int64_t most_kernels = 32;
constexpr std::size_t most_skips_told = 3;

// A wrong output of a timed call; caught where the samples are taken.
struct WrongOutput {
  Verdict verdict;
};

void take_verdict(const Verdict& verdict, Record& record) {
  record.max_abs_error = verdict.tally.max_abs_error;
  record.max_rel_error = verdict.tally.max_rel_error;
  record.within_1e4 = verdict.tally.outside_1e4 == 0 && verdict.right;
  record.bit_equal_percent = verdict.tally.bit_equal_percent();
  record.outcome = verdict.right ? Outcome::passed : Outcome::wrong;
  record.reason = verdict.reason;
}

void note_throttling(const Timing& timing, double nominal_mhz, JobResult& result) {
  const auto throttled = std::count_if(timing.samples.begin(), timing.samples.end(),
                                       [](const Sample& sample) { return sample.throttled; });
  if (throttled == 0) return;
  result.notes.push_back(fmt::format("{} of {} samples with the SM clock under 90% of {:.0f} MHz",
                                     throttled, timing.samples.size(), nominal_mhz));
}

double wall_ns_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

PlanRequest request_of(const Job& job, const Problem& problem) {
  return {job.control, job.operator_name, job.variant, job.configuration, problem.to_string()};
}

int streams_of(const std::string& control) { return control == "fill" ? 1 : 2; }

}  // namespace

Workbench& Court::bench(const Operator& op, const Problem& problem, std::uint64_t seed) {
  const std::string key =
      fmt::format("{} {} {} {}", op.name(), op.summary(), problem.to_string(), seed);
  if (key != bench_key_) {
    bench_.reset();  // first, so that two problems need never fit at once
    bench_key_.clear();
    bench_ = std::make_unique<Workbench>(op, problem, seed, *device_);
    bench_key_ = key;
  }
  return *bench_;
}

void Court::run(const Job& job, Candidate& candidate,
                const std::function<void(const std::string&)>& on_phase, JobResult& result) {
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
    const Operator& op = job.control ? control_as_operator(streams_of(job.variant))
                                     : registry().find_operator(job.operator_name);
    const Problem problem =
        job.control ? control_problem(job.bytes / static_cast<std::int64_t>(sizeof(float)))
                    : op.parse_problem(job.problem);
    record.precision = Precision::exact_order;
    Verdict verdict;
    if (!job.control) {
      const VariantInfo& info = registry().find_variant(job.operator_name, job.variant).info();
      record.precision = info.precision;
      verdict = try_battery(job, op, info, candidate, on_phase, result);
    }
    if (verdict.right) {
      on_phase("verify at " + job.problem);
      record.useful_bytes = op.useful_bytes(problem);
      verdict = time_it(job, op, problem, rule_of(op, record.precision), candidate, result);
      ++record.cases;
    }
    take_verdict(verdict, record);
    if (!verdict.right) give_up(Outcome::wrong, verdict.reason);
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
                           Candidate& candidate,
                           const std::function<void(const std::string&)>& on_phase,
                           JobResult& result) {
  const AcceptanceRule rule = rule_of(op, info.precision);
  std::vector<std::string> skipped;
  for (const Case& one : battery_cases(op, info, job.battery)) {
    on_phase("verify at " + one.name());
    try {
      Verdict verdict =
          examine(op, one, request_of(job, one.problem), rule, job.seed, *device_, candidate);
      if (!verdict.right) {
        verdict.reason = fmt::format("at {}: {}", one.name(), verdict.reason);
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
  if (skipped.size() > most_skips_told) {
    result.notes.push_back(fmt::format("nor at {} more cases", skipped.size() - most_skips_told));
  }
  if (info.device == DeviceKind::cuda && result.record.cases > 0 && candidate.launches() == 0) {
    return {
        false, "it is right, but launched no kernel of its own: something else computed it", {}};
  }
  return {};
}

// New contents at the same address, poison, call, judge: to the candidate every call looks like this one,
// whether it is verified, warmed up or timed.
Lap Court::judged_sample(Candidate& candidate, Workbench& bench, const AcceptanceRule& rule,
                         bool watch_inputs) {
  bench.renew(random_bits(contents_stream, contents_++));
  bench.prepare(watch_inputs);
  device_->quiesce();
  const Lap lap = candidate.sample();
  const Verdict verdict = judge_output(bench, rule);
  if (!verdict.right) throw WrongOutput{verdict};
  return lap;
}

Verdict Court::time_it(const Job& job, const Operator& op, const Problem& problem,
                       const AcceptanceRule& rule, Candidate& candidate, JobResult& result) {
  Workbench& tensors = bench(op, problem, job.seed);
  candidate.prepare(request_of(job, problem), tensors.views());
  contents_ = random_bits(contents_stream, job.seed);
  tensors.renew(job.seed);
  Verdict verdict;
  {
    // What the record's errors speak of: the inputs that the seed names.
    tensors.prepare();
    device_->quiesce();
    (void)candidate.sample();
    verdict = judge_output(tensors, rule);
  }
  if (verdict.right && where_ == "parent") {
    const Verdict gate = check_gate(candidate, tensors, *device_);
    if (!gate.right) return {false, gate.reason, verdict.tally};
  }
  if (!verdict.right || !job.measure) return verdict;

  std::int64_t judged = 0;
  double reported = 0.0;
  const auto burst = [&](int count) {
    tensors.renew(random_bits(contents_stream, contents_++));
    tensors.prepare(/*watch_inputs=*/false);
    device_->quiesce();
    const auto start = std::chrono::steady_clock::now();
    reported = candidate.back_to_back(count);
    const double wall = wall_ns_since(start);
    const Verdict last = judge_output(tensors, rule);
    if (!last.right) throw WrongOutput{last};
    return Burst{wall, reported};
  };
  const TimedCalls calls = {
      .cold =
          [&] {
            const Lap lap = judged_sample(candidate, tensors, rule, /*watch_inputs=*/false);
            ++judged;
            return lap;
          },
      .back_to_back = [&](int count) { return burst(count).reported_ns; },
      .graph =
          [&](int count) {
            tensors.prepare(/*watch_inputs=*/false);
            device_->quiesce();
            return candidate.graph(count);
          },
  };
  try {
    const DeviceTraits& traits = device_->traits();
    const Timing timing = take_samples(calls, job.limits, traits.nominal_clock_mhz);
    summarise(timing, result.record);
    result.samples = timing.samples;
    note_throttling(timing, traits.nominal_clock_mhz, result);
    if (!timing.graph_note.empty()) result.notes.push_back(timing.graph_note);
    // Queuing costs time that events do not see: a few microseconds a kernel.
    const std::int64_t before = candidate.launches();
    (void)burst(1);
    const auto kernels = std::min<std::int64_t>(candidate.launches() - before, most_kernels);
    const double slack = clock_slack_ns + queuing_ns * static_cast<double>(kernels);
    const int count =
        static_cast<int>(std::clamp(2e6 / std::max(timing.back_to_back_ns, 1.0), 4.0, 50.0));
    if (const auto reason = clocks_disagree(burst, count, slack))
      return {false, *reason, verdict.tally};
    // A call cannot take much longer with warm caches than with cold ones.
    const double cold = result.record.median_ns.value_or(0.0);
    if (timing.back_to_back_ns > 3.0 * cold + slack) {
      return {false,
              fmt::format("{:.0f} ns cold, yet {:.0f} ns back to back: the cold time cannot be "
                          "believed",
                          cold, timing.back_to_back_ns),
              verdict.tally};
    }
  } catch (const WrongOutput& wrong) {
    Verdict last = wrong.verdict;
    last.reason =
        fmt::format("right at first, wrong in timed call {}: {}", judged + 1, last.reason);
    return last;
  }
  return verdict;
}

}  // namespace fusebench
