#include "harness/session/remote_candidate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/added_time.hpp"

namespace fusebench {

using nlohmann::json;

namespace {

// A figure that the worker claims; anything but a number from 0 on is no claim.
double claimed(const json& answer, const char* name) {
  const json value = answer.value(name, json());
  if (!value.is_number() || !(value.get<double>() >= 0.0)) {
    throw LostWorker(Outcome::failed, fmt::format("the worker's answer holds no {}", name));
  }
  return value.get<double>();
}

}  // namespace

json RemoteCandidate::ask(json message, const std::vector<int>& files,
                          const std::function<void()>& on_go) {
  json answer = worker_->ask(std::move(message), files, [&](const std::string&) {
    if (!on_go) return;
    on_go();
    worker_->tell({{"go", true}});
  });
  launches_ = static_cast<std::int64_t>(claimed(answer, "launches"));
  return answer;
}

void RemoteCandidate::prepare(const PlanRequest& request, const std::vector<TensorView>& tensors) {
  const AddedTime timer(prepare_ns_);
  std::vector<const Region*> regions;
  std::vector<int> files;
  json all = json::array();
  for (const TensorView& view : tensors) {
    const auto known = std::find(regions.begin(), regions.end(), view.region);
    const auto index = static_cast<std::size_t>(known - regions.begin());
    if (known == regions.end()) {
      regions.push_back(view.region);
      files.push_back(view.region->descriptor());
    }
    all.push_back({{"name", view.name},
                   {"region", index},
                   {"region_bytes", view.region->bytes()},
                   {"bytes", view.bytes},
                   {"offset", view.offset},
                   {"writable", view.writable}});
  }
  const json answer = ask({{"do", "prepare"},
                           {"control", request.control},
                           {"operator", request.operator_name},
                           {"variant", request.variant},
                           {"configuration", request.configuration},
                           {"problem", request.problem},
                           {"tensors", std::move(all)}},
                          files);
  const json description = answer.value("plan", json(""));
  description_ = description.is_string() ? description.get<std::string>() : "";
}

std::uint64_t RemoteCandidate::call(bool loaded) {
  const json answer = ask({{"do", "call"}, {"loaded", loaded}});
  const json fingerprint = answer.value("fingerprint", json());
  if (!fingerprint.is_number_unsigned()) {
    throw LostWorker(Outcome::failed, "the worker's answer holds no fingerprint");
  }
  return fingerprint.get<std::uint64_t>();
}

bool RemoteCandidate::enqueue_held() {
  const json answer = ask({{"do", "enqueue_held"}});
  const json held = answer.value("held", json());
  // A GPU's stream can always be closed.
  if (!held.is_boolean() || (worker_->kind() == DeviceKind::cuda && !held.get<bool>())) {
    throw LostWorker(Outcome::failed, "the worker did not close its stream");
  }
  return held.get<bool>();
}

void RemoteCandidate::release() { (void)ask({{"do", "release"}}); }

void RemoteCandidate::settle() { (void)ask({{"do", "settle"}}); }

Lap RemoteCandidate::sample(const std::function<void()>& about_to_run) {
  const bool audited = static_cast<bool>(about_to_run);
  const json answer = ask({{"do", "sample"}, {"audited", audited}}, {}, about_to_run);
  const json clock = answer.value("sm_clock_mhz", json());
  return {claimed(answer, "ns"), clock.is_number() ? clock.get<double>() : 0.0};
}

void RemoteCandidate::sample_nothing(const std::function<void()>& about_to_run) {
  (void)ask({{"do", "sample_nothing"}}, {}, about_to_run);
}

double RemoteCandidate::back_to_back(int count) {
  return claimed(ask({{"do", "back_to_back"}, {"count", count}}), "ns");
}

std::optional<double> RemoteCandidate::graph(int count) {
  const json answer = ask({{"do", "graph"}, {"count", count}});
  if (answer.contains("ns") && answer["ns"].is_null()) return std::nullopt;
  return claimed(answer, "ns");
}

void RemotePhases::enter(Phase phase, const std::string& key) {
  (void)worker_->ask({{"do", "phase"}, {"phase", static_cast<int>(phase)}, {"key", key}});
}

void RemotePhases::leave() { (void)worker_->ask({{"do", "phase"}}); }

void RemotePhases::conclude(const std::string& key, Outcome outcome, double ns) {
  (void)worker_->ask({{"do", "phase"}, {"outcome", to_string(outcome)}, {"key", key}, {"ns", ns}});
}

}  // namespace fusebench
