#include "harness/verify/verifier.hpp"

namespace fusebench {

Verdict judge_output(Workbench& bench, Precision precision) {
  Verdict verdict;
  verdict.comparison = bench.compare_output(precision);
  const std::optional<std::string> tampering = bench.tampering();
  if (verdict.comparison.wrong > 0) {
    verdict.reason = describe(verdict.comparison, bench.output_spec().shape);
  } else if (verdict.comparison.compared != element_count(bench.output_spec().shape)) {
    verdict.reason = "not every element was compared";
  } else if (tampering) {
    verdict.reason = *tampering;
  }
  verdict.right = verdict.reason.empty();
  return verdict;
}

Verdict verify_once(Plan& plan, Workbench& bench, Device& device, Precision precision) {
  bench.prepare();
  plan.enqueue(bench.tensors());
  device.synchronise();
  return judge_output(bench, precision);
}

}  // namespace fusebench
