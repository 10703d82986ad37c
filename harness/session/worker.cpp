#include "harness/session/worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/core/added_time.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/cuda/compiler.hpp"
#include "harness/session/court.hpp"
#include "harness/session/fault_report.hpp"
#include "harness/session/line_channel.hpp"
#include "harness/trace/nvtx.hpp"
#include "harness/verify/candidate.hpp"

namespace fusebench {
namespace {

using nlohmann::json;

class Worker {
 public:
  Worker(int descriptor, DeviceKind kind, const DeviceOptions& options)
      : channel_(descriptor), kind_(kind), options_(options) {}

  void serve() {
    while (const auto line = channel_.read()) {
      const json question = json::parse(*line);
      json answer = answer_to(question);
      answer["token"] = question.at("token");
      // What a candidate throws need not be UTF-8.
      channel_.write(answer.dump(-1, ' ', false, json::error_handler_t::replace));
    }
  }

 private:
  // Whatever a candidate does short of dying is an answer.
  json answer_to(const json& question) {
    try {
      if (question.at("do") == "compile") return compile(question);
      open();
      json answer = act(question);
      answer["launches"] = candidate_->launches();
      return answer;
    } catch (const Unavailable& reason) {
      return {{"unavailable", reason.what()}};
    } catch (const std::bad_alloc&) {
      return {{"unavailable", "not enough memory on the host"}};
    } catch (const std::exception& error) {
      return {{"failed", error.what()}};
    } catch (...) {
      return {{"failed", "it threw something that is no std::exception"}};
    }
  }

  json act(const json& question) {
    const auto what = question.at("do").get<std::string>();
    if (what == "prepare") {
      prepare(question);
      return {{"plan", candidate_->description()}};
    }
    if (what == "call") {
      return {{"fingerprint", candidate_->call(question.at("loaded").get<bool>())}};
    }
    if (what == "enqueue_held") return {{"held", candidate_->enqueue_behind_hold()}};
    if (what == "release") {
      candidate_->release();
      return json::object();
    }
    if (what == "settle") {
      candidate_->settle();
      return json::object();
    }
    if (what == "sample") {
      const bool audited = question.at("audited").get<bool>();
      const Lap lap = candidate_->sample(audited ? when_told(question) : std::function<void()>());
      return {{"ns", lap.ns}, {"sm_clock_mhz", lap.sm_clock_mhz}};
    }
    if (what == "sample_nothing") {
      candidate_->sample_nothing(when_told(question));
      return json::object();
    }
    const int count = question.value("count", 1);
    if (what == "back_to_back") return {{"ns", candidate_->back_to_back(count)}};
    if (what == "graph") {
      const auto ns = candidate_->graph(count);
      return {{"ns", ns ? json(*ns) : json()}};
    }
    if (what == "judge") return judge(question);
    if (what == "phase") return show_phase(question);
    throw Error("a worker cannot '{}'", what);
  }

  // Into the cache on disk, where whoever needs the kernels finds them; no device is opened for it.
  [[nodiscard]] json compile(const json& question) {
    // On top of whatever this program was started with, and once however many are compiled here.
    if (!is_nice_) [[maybe_unused]]
      const int ignored = nice(question.at("niceness").get<int>());
    is_nice_ = true;
    const Architecture target = parse_architecture(question.at("arch").get<std::string>());
    const Operator& op = registry().find_operator(question.at("operator").get<std::string>());
    const Variant& variant =
        registry().find_variant(op.name(), question.at("variant").get<std::string>());
    const Problem problem = op.parse_problem(question.at("problem").get<std::string>());
    const Configuration configuration =
        variant.info().parameters.parse(question.at("configuration").get<std::string>());
    double ns = 0.0;
    {
      const AddedTime timer(ns);
      for (const KernelSpec& spec : variant.kernels(problem, configuration)) {
        (void)compile_kernel(spec, target, options_.kernel_folder);
      }
    }
    return {{"ns", ns}};
  }

  // The judge reads its clock before it says go: however late it wakes, it cannot see the call as shorter
  // than it is.
  std::function<void()> when_told(const json& question) {
    return [this, token = question.at("token")] {
      channel_.write(json{{"token", token}, {"phase", "ready"}}.dump());
      (void)channel_.read();
    };
  }

  void open() {
    if (device_) return;
    device_ = open_device(kind_, options_);
    candidate_ = std::make_unique<LocalCandidate>(*device_);
  }

  void prepare(const json& question) {
    const std::vector<int> files = channel_.take_files();
    const auto closer = [](const std::vector<int>* all) {
      for (const int file : *all) (void)close(file);
    };
    const std::unique_ptr<const std::vector<int>, decltype(closer)> owner(&files, closer);

    const PlanRequest request = {
        question.at("control").get<bool>(), question.at("operator").get<std::string>(),
        question.at("variant").get<std::string>(), question.at("configuration").get<std::string>(),
        question.at("problem").get<std::string>()};
    // The old ones go first, so that two problems need never fit at once, and their plan before them.
    candidate_->drop_unless(request);
    regions_.clear();
    std::vector<std::unique_ptr<Region>> regions(files.size());
    std::vector<TensorView> views;
    // The output may be the first input's memory: whoever writes decides how a region is mapped.
    const json& tensors = question.at("tensors");
    for (const json& tensor : tensors) {
      const auto index = tensor.at("region").get<std::size_t>();
      if (regions.at(index)) continue;
      const bool writable = std::any_of(tensors.begin(), tensors.end(), [&](const json& other) {
        return other.at("region") == index && other.at("writable").get<bool>();
      });
      regions[index] = device_->open_region(files.at(index),
                                            tensor.at("region_bytes").get<std::size_t>(), writable);
    }
    for (const json& tensor : tensors) {
      Region* const region = regions.at(tensor.at("region").get<std::size_t>()).get();
      views.push_back({tensor.at("name").get<std::string>(), region,
                       tensor.at("offset").get<std::size_t>(),
                       tensor.at("bytes").get<std::size_t>(), tensor.at("writable").get<bool>()});
      if (kind_ == DeviceKind::cpu) {
        name_tensor(views.size() - 1, views.back().name,
                    static_cast<const std::byte*>(region->address()) + views.back().offset,
                    views.back().bytes);
      }
    }
    regions_ = std::move(regions);
    const NvtxPreparing range(timeline_);
    candidate_->prepare(request, views);
  }

  // Asked only where a profiler is attached.
  json show_phase(const json& question) {
    const std::string key = question.value("key", "");
    if (question.contains("outcome")) {
      timeline_.conclude(key, parse_outcome(question.at("outcome").get<std::string>()),
                         question.at("ns").get<double>());
    } else if (question.contains("phase")) {
      timeline_.enter(static_cast<Phase>(question.at("phase").get<int>()), key);
    } else {
      timeline_.leave();
    }
    return json::object();
  }

  json judge(const json& question) {
    if (!court_) court_ = std::make_unique<Court>(*device_, "worker");
    const auto job = question.at("job").get<Job>();
    JobResult result;
    result.record = record_of(job, kind_);
    const auto on_phase = [&](const std::string& phase) {
      channel_.write(json{{"token", question.at("token")}, {"phase", phase}}.dump());
    };
    try {
      court_->run(job, *candidate_, on_phase, result, &timeline_);
    } catch (const std::exception& error) {
      result.record.outcome = Outcome::failed;
      result.record.reason = error.what();
    }
    return {{"result", result}};
  }

  LineChannel channel_;
  DeviceKind kind_;
  DeviceOptions options_;
  std::unique_ptr<Device> device_;
  std::vector<std::unique_ptr<Region>> regions_;
  std::unique_ptr<LocalCandidate> candidate_;
  std::unique_ptr<Court> court_;
  NvtxPhases timeline_;
  bool is_nice_ = false;
};

}  // namespace

int serve_judge(int descriptor, DeviceKind kind, const DeviceOptions& options) {
  report_faults(descriptor);
  Worker(descriptor, kind, options).serve();
  return 0;
}

}  // namespace fusebench
