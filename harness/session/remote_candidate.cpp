#include "harness/session/remote_candidate.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/error.hpp"

namespace fusebench {

using nlohmann::json;

json RemoteCandidate::ask(json message, const std::vector<int>& files) {
  json answer = worker_->ask(std::move(message), files);
  try {
    if (answer.contains("unavailable")) {
      throw Unavailable("{}", answer["unavailable"].get<std::string>());
    }
    if (answer.contains("failed")) throw Error("{}", answer["failed"].get<std::string>());
    launches_ = answer.at("launches").get<std::int64_t>();
  } catch (const json::exception&) {
    throw LostWorker(Outcome::failed, "the worker's answer is not readable");
  }
  return answer;
}

void RemoteCandidate::prepare(const PlanRequest& request, const std::vector<TensorView>& tensors) {
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
  (void)ask({{"do", "prepare"},
             {"control", request.control},
             {"operator", request.operator_name},
             {"variant", request.variant},
             {"configuration", request.configuration},
             {"problem", request.problem},
             {"tensors", std::move(all)}},
            files);
}

void RemoteCandidate::call(bool loaded) { (void)ask({{"do", "call"}, {"loaded", loaded}}); }

bool RemoteCandidate::enqueue_held() { return ask({{"do", "enqueue_held"}}).value("held", false); }

void RemoteCandidate::release() { (void)ask({{"do", "release"}}); }

void RemoteCandidate::settle() { (void)ask({{"do", "settle"}}); }

namespace {

// A time that the worker claims; anything but a positive number is no claim.
double claimed_ns(const json& answer) {
  const json ns = answer.value("ns", json());
  if (!ns.is_number() || !(ns.get<double>() >= 0.0)) {
    throw LostWorker(Outcome::failed, "the worker's answer holds no time");
  }
  return ns.get<double>();
}

}  // namespace

Lap RemoteCandidate::sample() {
  const json answer = ask({{"do", "sample"}});
  const json clock = answer.value("sm_clock_mhz", json());
  return {claimed_ns(answer), clock.is_number() ? clock.get<double>() : 0.0};
}

double RemoteCandidate::back_to_back(int count) {
  return claimed_ns(ask({{"do", "back_to_back"}, {"count", count}}));
}

std::optional<double> RemoteCandidate::graph(int count) {
  const json answer = ask({{"do", "graph"}, {"count", count}});
  if (answer.contains("ns") && answer["ns"].is_null()) return std::nullopt;
  return claimed_ns(answer);
}

}  // namespace fusebench
