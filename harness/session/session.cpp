#include "harness/session/session.hpp"

#include <fmt/ranges.h>
#include <sys/prctl.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "harness/core/error.hpp"
#include "harness/core/properties.hpp"
#include "harness/session/court.hpp"
#include "harness/session/provenance.hpp"
#include "harness/session/remote_candidate.hpp"
#include "harness/session/variant_sources.hpp"
#include "harness/session/worker_process.hpp"
#include "harness/trace/nvtx.hpp"
#include "harness/trace/variant_key.hpp"

namespace fusebench {
namespace {

std::regex compile_filter(const std::string& filter) {
  try {
    return std::regex(filter, std::regex::ECMAScript);
  } catch (const std::regex_error&) {
    throw Error("--filter '{}' is not a regular expression (ECMAScript)", filter);
  }
}

std::vector<Configuration> configurations_of(const VariantInfo& info, const std::string& wanted,
                                             const Properties& properties) {
  try {
    return info.parameters.select(wanted, properties);
  } catch (const Error& error) {
    throw Error("--configuration: variant '{}': {}; --filter chooses variants", info.name,
                error.what());
  }
}

// A text that suits one operator of several is no problem of another.
Problem problem_of(const Operator& op, const std::string& text) {
  try {
    return op.parse_problem(text);
  } catch (const Error& error) {
    throw Error("{} (operator {}; --operator or --filter chooses others)", error.what(), op.name());
  }
}

std::int64_t bytes_of(const TensorSpec& spec) {
  return element_count(spec.shape) * static_cast<std::int64_t>(sizeof(float));
}

std::vector<Item> items_of(const Operator& op, const Selection& selection,
                           const SessionOptions& options, const std::regex& filter) {
  std::vector<Item> items;
  std::map<DeviceKind, DeviceStatus> devices;
  for (const Variant* variant : registry().variants(op.name())) {
    const VariantInfo& info = variant->info();
    const auto& wanted = selection.devices;
    if (std::find(wanted.begin(), wanted.end(), info.device) == wanted.end()) continue;
    if (!std::regex_search(info.operator_name + " " + info.name, filter)) continue;
    if (!devices.contains(info.device)) devices[info.device] = probe_device(info.device);
    const DeviceStatus& status = devices[info.device];
    const std::string size = info.device == DeviceKind::cpu ? "quick" : "official";
    const Problem problem = problem_of(op, selection.problem.empty() ? size : selection.problem);
    // That a variant does not do a problem holds on every machine, so it is what a person is told first.
    std::string unavailable = variant->refuses(problem).value_or("");
    if (unavailable.empty()) {
      unavailable =
          status.traits ? variant->unavailable(*status.traits).value_or("") : status.reason;
    }
    const Properties properties = properties_of(problem, status.traits);
    WisdomMatch match;
    std::string chosen = selection.configuration;
    if (chosen == "wisdom") {
      const std::string source =
          selection.wisdom.empty() ? "" : source_hash(*variant, options.device.kernel_folder);
      std::optional<DeviceTraits> device = status.traits;
      if (device && unavailable.empty()) device->toolkit = toolkit_of(*variant, *device);
      match = match_wisdom(selection.wisdom, info, problem.to_string(), device, properties, source);
      chosen = match.configuration;
    }
    const ParameterSpace& space = info.parameters;
    const std::string broken = space.broken_by(space.default_configuration(), properties);
    const bool does_not_fit = chosen == "default" && !broken.empty();
    if (does_not_fit && unavailable.empty()) {
      unavailable = "its default configuration breaks " + broken;
    }
    const auto configurations =
        configurations_of(info, chosen, does_not_fit ? Properties() : properties);
    for (const Configuration& configuration : configurations) {
      Job job{.operator_name = info.operator_name,
              .variant = info.name,
              .configuration = configuration.to_string(),
              .problem = problem.to_string(),
              .seed = options.seed,
              .bytes = bytes_of(op.tensors(problem).back()),
              .battery = options.battery,
              .measure = options.measure,
              .limits = options.limits};
      items.push_back({&op, variant, info.device, unavailable, chosen != "default", match.told,
                       properties, std::move(job)});
    }
  }
  return items;
}

// Before the first variant of a device and problem, the controls at its output's size.
std::vector<Item> with_controls(std::vector<Item> items) {
  std::vector<Item> all;
  std::set<std::pair<DeviceKind, std::string>> seen;
  for (Item& item : items) {
    if (item.unavailable.empty() && seen.insert({item.device, item.job.problem}).second) {
      for (const char* name : {"copy", "memcpy", "fill", "fma"}) {
        Job job = item.job;
        job.control = true;
        job.operator_name = control_operator;
        job.variant = name;
        job.configuration = "default";
        all.push_back({.device = item.device, .unavailable = "", .job = std::move(job)});
      }
    }
    all.push_back(std::move(item));
  }
  return all;
}

// What can run, so many times over; what cannot need not be told twice.
std::vector<Item> repeated(std::vector<Item> items, int replicas) {
  const auto rest = std::find_if(items.begin(), items.end(),
                                 [](const Item& item) { return !item.unavailable.empty(); });
  std::vector<Item> all;
  for (int replica = 0; replica < replicas; ++replica) {
    for (auto item = items.begin(); item != rest; ++item) {
      all.push_back(*item);
      all.back().job.replica = replica;
    }
  }
  std::move(rest, items.end(), std::back_inserter(all));
  return all;
}

void stamp(Record& record, const Provenance& provenance) {
  record.run_id = provenance.run_id;
  record.timestamp_utc = utc_timestamp();
  record.git_commit = provenance.git_commit;
  record.dirty = provenance.dirty;
}

JobResult without_verdict(const Item& item, Outcome outcome, const std::string& reason) {
  JobResult result;
  result.record = record_of(item.job, item.device);
  result.record.outcome = outcome;
  result.record.reason = reason;
  return result;
}

void describe_device(const DeviceTraits& traits, Record& record) {
  record.device_name = traits.name;
  record.driver = traits.driver;
  record.toolkit = traits.toolkit;
  record.clock_policy = traits.clock_policy;
}

// A replica is held against its own controls, not against the best of those before it. Only the fastest sample stays:
// it bounds what the machine can do, and the more there are, the fewer honest times are under the floor.
class CeilingsOfReplica {
 public:
  Ceilings& at(int replica) {
    if (replica != replica_) {
      ceilings_.copy_gbps.reset();
      ceilings_.fill_gbps.reset();
    }
    replica_ = replica;
    return ceilings_;
  }

 private:
  int replica_ = 0;
  Ceilings ceilings_;
};

// Everything of one kind of device: our own hold on it, and the worker that runs candidates there.
class Bailiff {
 public:
  Bailiff(DeviceKind kind, const SessionOptions& options, SessionObserver& observer)
      : kind_(kind), options_(&options), observer_(&observer) {}

  /// Throws Interrupted; whatever else goes wrong is the result's outcome.
  JobResult run(const Item& item) {
    JobResult result;
    result.record = record_of(item.job, item.device);
    // What it took is known, though nothing came of it.
    const auto lost_to = [&](Outcome outcome, const std::string& reason) {
      JobResult lost = without_verdict(item, outcome, reason);
      lost.times = result.times;
      return lost;
    };
    try {
      judge(item, result);
      return result;
    } catch (const LostWorker& lost) {
      worker_.reset();
      // Its process can no longer say so; ours has no ranges.
      const Job& job = item.job;
      NvtxPhases().conclude(
          variant_key(job.operator_name, job.variant, job.configuration, job.problem, kind_),
          lost.outcome, 0.0);
      return lost_to(lost.outcome, lost.what());
    } catch (const Unavailable& reason) {
      worker_.reset();
      return lost_to(Outcome::unavailable, reason.what());
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      close();
      return lost_to(Outcome::failed, error.what());
    }
  }

 private:
  void judge(const Item& item, JobResult& result) {
    if (!device_) {
      device_ = open_device(kind_, options_->device);
      court_ = std::make_unique<Court>(*device_, "parent");
    }
    // A worker serves the configurations of one variant in one replica, and no longer than it is beyond suspicion:
    // what a candidate has left behind in its process can only harm itself.
    const std::string whom =
        fmt::format("{} {} {}", item.job.operator_name, item.job.variant, item.job.replica);
    if (!worker_ || whom != whom_) {
      worker_.reset();  // the old one first: two would share the device
      worker_ = std::make_unique<WorkerProcess>(kind_, options_->device, options_->interrupted);
      whom_ = whom;
    }
    worker_->set_limit(std::chrono::duration<double>(options_->timeout_seconds));
    const auto on_phase = [this](const std::string& phase) {
      worker_->set_phase(phase);
      observer_->on_phase(phase);
    };
    if (options_->judge_in_worker || !device_->traits().sharing_refused.empty()) {
      const nlohmann::json answer =
          worker_->ask({{"do", "judge"}, {"job", item.job}}, {}, on_phase);
      result = result_in(answer);
    } else {
      RemoteCandidate candidate(*worker_);
      RemotePhases timeline(*worker_);
      court_->run(item.job, candidate, on_phase, result, is_nvtx_attached() ? &timeline : nullptr);
    }
    result.record.temperature_c = device_->temperature_c();
    const Outcome outcome = result.record.outcome;
    if (outcome != Outcome::passed && outcome != Outcome::unavailable) worker_.reset();
    if (outcome == Outcome::failed) require_sound_device();
  }

  // It may have been the judge's own call that failed, after which some devices answer nothing any more.
  void require_sound_device() {
    try {
      device_->synchronise();
    } catch (const Error&) {
      close();
    }
  }

  void close() {
    worker_.reset();
    court_.reset();
    device_.reset();
  }

  static JobResult result_in(const nlohmann::json& answer) {
    try {
      return answer.at("result").get<JobResult>();
    } catch (const nlohmann::json::exception&) {
      throw LostWorker(Outcome::failed, "the worker's answer is not readable");
    }
  }

  DeviceKind kind_;
  const SessionOptions* options_;
  SessionObserver* observer_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Court> court_;
  std::unique_ptr<WorkerProcess> worker_;
  std::string whom_;
};

}  // namespace

std::vector<Item> plan_session(const Selection& selection, const SessionOptions& options) {
  const std::regex filter = compile_filter(selection.filter);
  std::vector<const Operator*> operators = registry().operators();
  if (!selection.operator_name.empty()) {
    operators = {&registry().find_operator(selection.operator_name)};
  }
  std::vector<Item> items;
  for (const Operator* op : operators) {
    auto found = items_of(*op, selection, options, filter);
    std::move(found.begin(), found.end(), std::back_inserter(items));
  }
  if (items.empty()) {
    throw Error("no variant matches --filter '{}' on the chosen operators and devices; see "
                "'fusebench list'",
                selection.filter);
  }
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::pair(!a.unavailable.empty(), a.device) <
           std::pair(!b.unavailable.empty(), b.device);
  });
  if (options.measure) items = with_controls(std::move(items));
  return repeated(std::move(items), options.replicas);
}

bool run_session(const std::vector<Item>& items, const SessionOptions& options,
                 SessionObserver& observer) {
  const auto runnable = static_cast<std::size_t>(std::count_if(
      items.begin(), items.end(), [](const Item& item) { return item.unavailable.empty(); }));
  std::size_t at = 0;
  const auto next = [&] { return at < items.size() ? std::optional(items[at++]) : std::nullopt; };
  return run_session(next, runnable, options, observer);
}

bool run_session(const NextItem& next, std::size_t expected, const SessionOptions& options,
                 SessionObserver& observer) {
  // The judge's memory is no business of a candidate's, which runs as the same user.
  (void)prctl(PR_SET_DUMPABLE, 0);
  const Provenance provenance = current_provenance(options.device.kernel_folder);
  std::map<DeviceKind, Bailiff> bailiffs;
  std::map<std::pair<DeviceKind, std::string>, CeilingsOfReplica> ceilings;
  std::map<DeviceKind, DeviceStatus> devices;
  for (std::size_t i = 1;; ++i) {
    if (options.interrupted()) return false;
    const std::optional<Item> given = next();
    if (!given) return true;
    const Item& item = *given;
    observer.on_start(i, expected, item);
    if (!devices.contains(item.device)) devices[item.device] = probe_device(item.device);
    const std::optional<DeviceTraits>& traits = devices[item.device].traits;

    JobResult result;
    if (item.unavailable.empty()) {
      Bailiff& bailiff =
          bailiffs.try_emplace(item.device, item.device, options, observer).first->second;
      try {
        result = bailiff.run(item);
      } catch (const Interrupted&) {
        return false;
      }
      if (options.interrupted()) return false;
    } else {
      result = without_verdict(item, Outcome::unavailable, item.unavailable);
    }
    Record& record = result.record;
    stamp(record, provenance);
    if (item.variant != nullptr) {
      record.precision = item.variant->info().precision;
      record.in_place = item.variant->info().in_place == InPlace::only;
    }
    if (traits) describe_device(*traits, record);
    Ceilings& here = ceilings[{item.device, item.job.problem}].at(item.job.replica);
    here.add(record);
    if (traits) {
      const std::int64_t written = item.job.bytes;
      apply_ceilings(record, here, *traits, record.useful_bytes - written, written);
      if (!record.median_ns) result.samples.clear();
    }
    observer.on_result(result);
  }
}

}  // namespace fusebench
