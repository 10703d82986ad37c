#include "harness/session/profiler.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "harness/core/error.hpp"
#include "harness/device/call_clock.hpp"
#include "harness/trace/device_recorder.hpp"
#include "harness/trace/host_recorder.hpp"
#include "harness/trace/nvtx.hpp"
#include "harness/trace/variant_key.hpp"
#include "harness/verify/candidate.hpp"
#include "harness/verify/control_operator.hpp"
#include "harness/verify/examiner.hpp"

namespace fusebench {
namespace {

// Phases go to our own timeline and to whichever profiler listens.
class Listeners final : public PhaseListener {
 public:
  explicit Listeners(HostRecorder& host) : host_(&host) {}
  void enter(Phase phase, const std::string& key) override {
    nvtx_.enter(phase, key);
    host_->enter(phase, key);
  }
  void leave() override {
    host_->leave();
    nvtx_.leave();
  }
  void conclude(const std::string& key, Outcome outcome, double ns) override {
    host_->leave();
    nvtx_.conclude(key, outcome, ns);
  }

 private:
  NvtxPhases nvtx_;
  HostRecorder* host_;
};

constexpr std::size_t least_bytes = 4096;

bool can_run(const Item& item) { return item.unavailable.empty(); }

// What follows a call that throws is not that call's.
class RecordedCall {
 public:
  RecordedCall(DeviceRecorder* recorder, std::size_t call) : recorder_(recorder) {
    if (recorder_ != nullptr) recorder_->begin_call(call);
  }
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;
  ~RecordedCall() {
    if (recorder_ != nullptr) recorder_->end_call();
  }

 private:
  DeviceRecorder* recorder_;
};

std::function<std::uint64_t()> clock_of(const DeviceRecorder* recorder) {
  if (recorder == nullptr) return steady_ns;
  return [recorder] { return recorder->now_ns(); };
}

class Profiler {
 public:
  Profiler(const std::vector<Item>& items, const ProfileOptions& options, Profile& result,
           DeviceRecorder* recorder)
      : items_(&items),
        options_(&options),
        result_(&result),
        recorder_(recorder),
        host_(result.timeline, clock_of(recorder)),
        phases_(host_) {}

  void run() {
    for_each(&Profiler::verify);
    const auto is_on_gpu = [](const auto& one) { return one.first == DeviceKind::cuda; };
    std::optional<CaptureRange> capture;
    if (std::any_of(devices_.begin(), devices_.end(), is_on_gpu)) capture.emplace();
    start_recorder();
    if (recorder_ != nullptr) time_least_call();
    for_each(&Profiler::measure);
    (void)stops();
    for (const auto& [kind, device] : devices_) settle(*device);
    capture.reset();
    if (recorder_ == nullptr) return;
    try {
      recorder_->finish(result_->timeline);
    } catch (const Error& error) {
      result_->without_device = error.what();
    }
  }

 private:
  using Step = void (Profiler::*)(std::size_t);

  // One step of every variant that is still in it. What a step throws is that variant's outcome.
  void for_each(Step step) {
    for (std::size_t i = 0; i < items_->size() && result_->complete; ++i) {
      if (stops()) return;
      ProfiledVariant& variant = result_->variants[i];
      const bool is_in = variant.outcome == Outcome::passed ||
                         (variant.outcome == Outcome::wrong && options_->even_wrong);
      if (!is_in) continue;
      const Outcome before = variant.outcome;
      try {
        (this->*step)(i);
      } catch (const Unavailable& reason) {
        variant = {Outcome::unavailable, reason.what(), 0, 0, std::nullopt};
      } catch (const std::bad_alloc&) {
        variant = {Outcome::unavailable, "not enough memory on the host", 0, 0, std::nullopt};
      } catch (const std::exception& error) {
        variant = {Outcome::failed, error.what(), 0, 0, std::nullopt};
      }
      phases_.leave();
      if (variant.outcome == before) continue;
      phases_.conclude(key(i), variant.outcome, 0.0);
      // Of calls that were not all made nothing adds up.
      for (TracedCall& call : result_->timeline.calls) call.warmup |= call.variant == i;
    }
  }

  bool stops() {
    if (options_->interrupted()) result_->complete = false;
    return !result_->complete;
  }

  void verify(std::size_t index) {
    const Item& item = (*items_)[index];
    enter(index, Phase::prepare);
    Device& device = this->device(item.device);
    Workbench& tensors = bench(item, device);
    LocalCandidate candidate(device);
    candidate.adopt(prepare(item, device), tensors.views());
    enter(index, Phase::verify);
    tensors.renew(item.job.seed);
    const Verdict verdict =
        verify_once(candidate, tensors, device, rule_of(*item.op, item.variant->info().precision));
    if (verdict.right) return;
    result_->variants[index].outcome = Outcome::wrong;
    result_->variants[index].reason = verdict.reason;
  }

  void measure(std::size_t index) {
    const Item& item = (*items_)[index];
    enter(index, Phase::prepare);
    Device& device = this->device(item.device);
    Workbench& tensors = bench(item, device);
    const std::unique_ptr<Plan> plan = prepare(item, device);
    const TensorTable table = tensors.tensors();
    const std::unique_ptr<CallClock> clock = make_call_clock(device);
    const std::size_t first = result_->timeline.calls.size();
    if (!tensors.in_place()) tensors.prepare(/*watch_inputs=*/false);
    device.synchronise();
    ProfiledVariant& variant = result_->variants[index];
    // Nothing waits between the calls, so that of all but the first the host's time to launch is hidden.
    for (int i = -1; i < options_->iterations && !stops(); ++i) {
      // What is not the variant's work stands outside of the ranges that a profiler sums up.
      if (tensors.in_place() || options_->flush) enter(index, Phase::prepare);
      if (tensors.in_place()) {
        tensors.prepare(/*watch_inputs=*/false);
        tensors.renew(
            item.job.seed);  // last: the host does not wait for it, so it hides the launch
      }
      if (options_->flush) clock->flush();
      enter(index, i < 0 ? Phase::warmup : Phase::measure);
      const std::int64_t before = launches_on(device);
      call({.variant = index, .warmup = i < 0, .iteration = std::max(i, 0)}, *clock,
           [&] { plan->enqueue(table); });
      if (i >= 0) variant.launches += launches_on(device) - before;
    }
    const std::vector<double> times_ns = take_times(*clock, first);
    phases_.leave();
    if (!result_->complete) return;
    variant.iterations = options_->iterations;
    variant.mean_ns = std::accumulate(times_ns.begin() + 1, times_ns.end(), 0.0) /
                      static_cast<double>(options_->iterations);
    phases_.conclude(key(index), variant.outcome, *variant.mean_ns);
  }

  // What events and CUPTI say of a kernel that takes next to nothing differs by what events take. The host's launch
  // hides behind a flush.
  void time_least_call() {
    const auto gpu = devices_.find(DeviceKind::cuda);
    if (gpu == devices_.end()) return;
    Device& device = *gpu->second;
    const Control fill = find_control(device, "fill");
    const Buffer few = device.allocate(least_bytes);
    Timeline& timeline = result_->timeline;
    const std::string problem = fmt::format("bytes={}", least_bytes);
    timeline.least_call = timeline.variants.size();
    timeline.variants.push_back(
        {"control", fill.name, "default", problem, DeviceKind::cuda,
         variant_key("control", fill.name, "default", problem, DeviceKind::cuda)});
    const std::unique_ptr<CallClock> clock = make_call_clock(device);
    const std::size_t first = timeline.calls.size();
    for (int i = -1; i < options_->iterations; ++i) {
      clock->flush();
      call({.variant = *timeline.least_call, .warmup = i < 0, .iteration = std::max(i, 0)}, *clock,
           [&] { fill.enqueue(few.address(), nullptr, few.bytes()); });
    }
    take_times(*clock, first);
  }

  std::vector<double> take_times(CallClock& clock, std::size_t first) {
    std::vector<double> times_ns = clock.finish();
    for (std::size_t i = 0; i < times_ns.size(); ++i) {
      result_->timeline.calls[first + i].event_ns = times_ns[i];
    }
    return times_ns;
  }

  void call(const TracedCall& traced, CallClock& clock, const std::function<void()>& enqueue) {
    const std::size_t number = result_->timeline.calls.size();
    result_->timeline.calls.push_back(traced);
    TimeSpan when;
    clock.time([&] {
      const RecordedCall recorded(recorder_, number);
      when = host_.time(enqueue);
    });
    host_.add_call(number, when);
  }

  // What CUPTI refuses is no reason to lose the rest.
  void start_recorder() {
    if (recorder_ == nullptr) return;
    try {
      recorder_->start();
    } catch (const Unavailable& reason) {
      result_->without_device = reason.what();
    }
  }

  void settle(Device& device) {
    try {
      device.synchronise();
    } catch (const Error&) {
      // Somebody's outcome already.
    }
  }

  void enter(std::size_t index, Phase phase) {
    if (phase != phase_ || index != index_) options_->on_phase((*items_)[index], phase);
    phase_ = phase;
    index_ = index;
    phases_.enter(phase, key(index));
  }

  const std::string& key(std::size_t index) const { return result_->timeline.variants[index].key; }

  static std::unique_ptr<Plan> prepare(const Item& item, Device& device) {
    const VariantInfo& info = item.variant->info();
    return item.variant->prepare(item.op->parse_problem(item.job.problem),
                                 info.parameters.parse(item.job.configuration), device);
  }

  Device& device(DeviceKind kind) {
    const auto open = devices_.find(kind);
    if (open != devices_.end()) return *open->second;
    return *devices_.emplace(kind, open_device(kind, options_->device)).first->second;
  }

  // Variants of one problem share its tensors, as in a court.
  Workbench& bench(const Item& item, Device& device) {
    const Placement placement = placements(item.variant->info().in_place).front();
    auto& bench = benches_[{item.device, item.job.operator_name, item.job.problem, placement.name}];
    if (!bench) {
      const Problem problem = item.op->parse_problem(item.job.problem);
      bench = std::make_unique<Workbench>(*item.op, problem, official_inputs(*item.op, problem),
                                          placement, item.job.seed, device);
    }
    return *bench;
  }

  const std::vector<Item>* items_;
  const ProfileOptions* options_;
  Profile* result_;
  DeviceRecorder* recorder_;
  std::map<DeviceKind, std::unique_ptr<Device>> devices_;
  std::map<std::tuple<DeviceKind, std::string, std::string, std::string>,
           std::unique_ptr<Workbench>>
      benches_;
  HostRecorder host_;
  Listeners phases_;
  std::optional<Phase> phase_;
  std::size_t index_ = 0;
};

Profile described(const std::vector<Item>& items) {
  Profile result;
  result.timeline.process_name = "fusebench";
  result.timeline.process = getpid();
  for (const Item& item : items) {
    const Job& job = item.job;
    result.variants.push_back({can_run(item) ? Outcome::passed : Outcome::unavailable,
                               item.unavailable, 0, 0, std::nullopt});
    result.timeline.variants.push_back(
        {job.operator_name, job.variant, job.configuration, job.problem, item.device,
         variant_key(job.operator_name, job.variant, job.configuration, job.problem, item.device)});
    if (item.device != DeviceKind::cuda || !can_run(item)) continue;
    if (!result.timeline.device_name.empty()) continue;
    const auto traits = probe_device(item.device).traits;
    result.timeline.device_name = traits ? traits->name : "";
  }
  return result;
}

}  // namespace

Profile profile(const std::vector<Item>& items, const ProfileOptions& options) {
  if (std::none_of(items.begin(), items.end(), can_run)) {
    throw Error("nothing that was chosen can run here: {}",
                items.empty() ? "nothing was chosen" : items.front().unavailable);
  }
  Profile result = described(items);
  const bool has_gpu = std::any_of(items.begin(), items.end(), [](const Item& item) {
    return item.device == DeviceKind::cuda && can_run(item);
  });
  std::unique_ptr<DeviceRecorder> recorder;
  if (options.record && has_gpu) {
    try {
      recorder = open_cupti();
    } catch (const Unavailable& reason) {
      result.without_device = reason.what();
    }
  }
  Profiler(items, options, result, recorder.get()).run();
  return result;
}

}  // namespace fusebench
