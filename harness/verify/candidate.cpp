#include "harness/verify/candidate.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "harness/core/added_time.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/cuda/cuda_device.hpp"
#include "harness/verify/control_operator.hpp"

namespace fusebench {
namespace {

std::unique_ptr<Plan> control_plan(const std::string& name, const Problem& problem,
                                   Device& device) {
  const auto bytes = static_cast<std::size_t>(problem.size("elements")) * sizeof(float);
  return make_plan([control = find_control(device, name), bytes](const TensorTable& tensors) {
    control.enqueue(tensors.output(), tensors.input(0), bytes);
  });
}

std::unique_ptr<Plan> variant_plan(const PlanRequest& request, Device& device) {
  const Operator& op = registry().find_operator(request.operator_name);
  const Variant& variant = registry().find_variant(request.operator_name, request.variant);
  if (const auto reason = variant.unavailable(device.traits())) throw Unavailable("{}", *reason);
  const Problem problem = op.parse_problem(request.problem);
  if (const auto reason = variant.refuses(problem)) throw Unavailable("{}", *reason);
  return variant.prepare(problem, variant.info().parameters.parse(request.configuration), device);
}

}  // namespace

void LocalCandidate::prepare(const PlanRequest& request, const std::vector<TensorView>& tensors) {
  const AddedTime timer(prepare_ns_);
  drop_unless(request);
  if (plan_) {
    place(tensors);
    return;
  }
  const std::int64_t before = launches_on(*device_);
  std::unique_ptr<Plan> plan;
  if (request.control) {
    plan = control_plan(request.variant, control_as_operator(2).parse_problem(request.problem),
                        *device_);
  } else {
    plan = variant_plan(request, *device_);
  }
  adopt(std::move(plan), tensors);
  request_ = request;
  launches_ = launches_on(*device_) - before;
}

void LocalCandidate::drop_unless(const PlanRequest& request) {
  if (!(request == request_)) plan_.reset();
}

void LocalCandidate::adopt(std::unique_ptr<Plan> plan, const std::vector<TensorView>& tensors) {
  plan_ = std::move(plan);
  request_ = {};
  place(tensors);
}

void LocalCandidate::place(const std::vector<TensorView>& tensors) {
  tensors_ = addresses_of(tensors);
  output_ = {tensors_->output(), tensors.back().bytes};
  launches_ = 0;
}

void LocalCandidate::enqueue() {
  const std::int64_t before = launches_on(*device_);
  plan_->enqueue(*tensors_);
  launches_ += launches_on(*device_) - before;
}

Stopwatch& LocalCandidate::stopwatch() {
  if (!stopwatch_) stopwatch_ = device_->stopwatch();
  return *stopwatch_;
}

std::uint64_t LocalCandidate::call(bool loaded) {
  const std::unique_ptr<Load> load = loaded ? device_->start_load() : nullptr;
  enqueue();
  // On the call's own stream: what another has not done by now was not waited for.
  return device_->fingerprint(output_.address, output_.bytes);
}

bool LocalCandidate::enqueue_behind_hold() {
  if (!stopwatch().hold()) return false;
  try {
    enqueue();
  } catch (...) {
    stopwatch().release();
    throw;
  }
  return true;
}

Lap LocalCandidate::sample(const std::function<void()>& about_to_run) {
  const Lap lap = stopwatch().cold([this] { enqueue(); }, about_to_run);
  device_->synchronise();
  return lap;
}

void LocalCandidate::sample_nothing(const std::function<void()>& about_to_run) {
  (void)stopwatch().cold([] {}, about_to_run);
  device_->synchronise();
}

double LocalCandidate::back_to_back(int count) {
  const double ns = stopwatch().back_to_back([this] { enqueue(); }, count);
  device_->synchronise();
  return ns;
}

std::optional<double> LocalCandidate::graph(int count) {
  const auto ns = stopwatch().graph([this] { enqueue(); }, count);
  device_->synchronise();
  return ns;
}

int LocalCandidate::threads() { return threads_of(getpid()); }

std::int64_t launches_on(const Device& device) {
  const auto* cuda = dynamic_cast<const CudaDevice*>(&device);
  return cuda == nullptr ? 0 : cuda->launches();
}

int threads_of(int process) {
  std::error_code gone;
  const std::filesystem::directory_iterator tasks(fmt::format("/proc/{}/task", process), gone);
  return gone ? 0 : static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

}  // namespace fusebench
