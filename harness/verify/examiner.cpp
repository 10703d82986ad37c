#include "harness/verify/examiner.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <thread>

#include "harness/core/error.hpp"
#include "harness/core/generator.hd.hpp"

namespace fusebench {
namespace {

constexpr std::uint64_t seed_stream = 0xCA5E;
constexpr std::chrono::milliseconds time_to_escape(2);
constexpr int threads_allowed = 8;  // that a library may add late; one a call is more

Verdict wrong(Verdict verdict, std::string reason) {
  verdict.right = false;
  verdict.reason = std::move(reason);
  return verdict;
}

// The tally may come from the device; what is told to a person comes from the host's own comparison.
std::string describe_wrong(Workbench& bench, const AcceptanceRule& rule, const Tally& tally) {
  const Comparison comparison = bench.compare_output(rule);
  if (comparison.wrong > 0) return describe(comparison, bench.output_spec().shape);
  return fmt::format(
      "{} of {} elements wrong on the device, none on the host a moment later: something wrote to "
      "the output after the call had returned",
      tally.wrong, tally.compared);
}

}  // namespace

Verdict judge_output(Workbench& bench, const AcceptanceRule& rule) {
  Verdict verdict;
  verdict.tally = bench.tally_output(rule);
  if (verdict.tally.wrong > 0) {
    return wrong(verdict, describe_wrong(bench, rule, verdict.tally));
  }
  if (verdict.tally.compared != element_count(bench.output_spec().shape)) {
    return wrong(verdict, "not every element was compared");
  }
  if (const auto tampering = bench.tampering()) return wrong(verdict, *tampering);
  return verdict;
}

Verdict verify_once(Candidate& candidate, Workbench& bench, Device& device,
                    const AcceptanceRule& rule, bool loaded) {
  bench.prepare();
  device.quiesce();
  const std::uint64_t at_end = candidate.call(loaded);
  const std::uint64_t at_return = bench.output_fingerprint();
  candidate.settle();
  const std::uint64_t settled = bench.output_fingerprint();
  const bool changed = settled != at_end || settled != at_return;
  Verdict verdict = judge_output(bench, rule);
  if (changed) {
    verdict =
        wrong(verdict, "the output changed after the call had returned: part of the work was put "
                       "where the clock does not see it");
  }
  return verdict;
}

Verdict check_gate(Candidate& candidate, Workbench& bench, Device& device) {
  bench.prepare();
  const std::uint64_t before = bench.output_fingerprint();
  device.quiesce();
  if (!candidate.enqueue_held()) return {};
  std::this_thread::sleep_for(time_to_escape);
  const bool escaped = bench.output_fingerprint() != before;
  candidate.release();
  candidate.settle();
  if (!escaped) return {};
  return wrong({}, "part of the work was put on a stream that does not wait for the one it must be "
                   "enqueued on, where the clock does not see it");
}

namespace {

// What follows the first call of a case, which was right.
Verdict examine_further(const Operator& op, const Case& one, const AcceptanceRule& here,
                        std::uint64_t seed, Device& device, Candidate& candidate,
                        Workbench& bench) {
  const std::uint64_t bits = bench.output_fingerprint();

  bench.rearm();
  Verdict verdict = verify_once(candidate, bench, device, here);
  if (!verdict.right) return wrong(verdict, "called again: " + verdict.reason);
  if (bench.output_fingerprint() != bits) {
    return wrong(verdict, "the same inputs gave other bits when the memory that it should not read "
                          "held something else");
  }

  if (one.repeats > 0) {
    verdict = check_gate(candidate, bench, device);
    if (!verdict.right) return verdict;
    const int threads = candidate.threads();
    for (int i = 0; i < one.repeats; ++i) {
      verdict = verify_once(candidate, bench, device, here, /*loaded=*/true);
      if (!verdict.right) return wrong(verdict, "repeated beside a load: " + verdict.reason);
      if (bench.output_fingerprint() != bits) {
        return wrong(verdict, fmt::format("repeat {} of {} beside a load gave other bits", i + 1,
                                          one.repeats));
      }
    }
    if (const int more = candidate.threads() - threads; more > threads_allowed) {
      return wrong(verdict, fmt::format("{} calls left {} more threads behind", one.repeats, more));
    }
  }

  for (std::size_t i = 0; i < bench.inputs(); ++i) {
    bench.renew(i, random_bits(seed_stream + i, seed));
    verdict = verify_once(candidate, bench, device, here);
    if (!verdict.right) {
      return wrong(verdict, fmt::format("after input {} was changed in place: {}",
                                        op.tensors(one.problem)[i].name, verdict.reason));
    }
  }
  return verdict;
}

}  // namespace

Verdict examine(const Operator& op, const Case& one, PlanRequest request,
                const AcceptanceRule& rule, std::uint64_t seed, Device& device,
                Candidate& candidate) {
  const AcceptanceRule here =
      one.inputs.exact_values && !rule.bits ? AcceptanceRule{false, {0.0, 0.0}} : rule;
  Workbench bench(op, one.problem, one.inputs, one.placement, seed, device);
  request.problem = one.problem.to_string();
  candidate.prepare(request, bench.views());

  Verdict verdict = verify_once(candidate, bench, device, here);
  if (!verdict.right) return verdict;
  try {
    return examine_further(op, one, here, seed, device, candidate, bench);
  } catch (const Unavailable& reason) {
    throw Error("it refused a call after it had taken one like it: {}", reason.what());
  }
}

}  // namespace fusebench
