#include "harness/trace/nvtx.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <mutex>

#if FUSEBENCH_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace fusebench {

#if FUSEBENCH_HAVE_NVTX

namespace {

class Domain {
 public:
  static Domain& get() {
    static Domain domain;
    return domain;
  }

  // Null where no tool is attached: NVTX has then nothing that could make one.
  [[nodiscard]] nvtxDomainHandle_t handle() const noexcept { return handle_; }

  nvtxStringHandle_t registered(const std::string& text) {
    const std::lock_guard lock(mutex_);
    const auto known = strings_.find(text);
    if (known != strings_.end()) return known->second;
    return strings_[text] = nvtxDomainRegisterStringA(handle_, text.c_str());
  }

 private:
  nvtxDomainHandle_t handle_ = nvtxDomainCreateA("fusebench");
  std::mutex mutex_;
  std::map<std::string, nvtxStringHandle_t> strings_;
};

nvtxEventAttributes_t attributes(const std::string& text, std::uint32_t colour) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = colour;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = Domain::get().registered(text);
  return event;
}

std::uint32_t colour_of(Phase phase) {
  switch (phase) {
    case Phase::prepare: return 0xFF8C8C8CU;
    case Phase::verify: return 0xFF7B5EA7U;
    case Phase::warmup: return 0xFFD9A441U;
    case Phase::measure: break;
  }
  return 0xFF2F6FB0U;
}

std::uint32_t colour_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed: return 0xFF2E8B57U;
    case Outcome::unavailable: return 0xFFB0B0B0U;
    case Outcome::timed_out: return 0xFFE08A1EU;
    default: return 0xFFC0392BU;
  }
}

}  // namespace

bool is_nvtx_attached() { return Domain::get().handle() != nullptr; }

void NvtxPhases::enter(Phase phase, const std::string& key) {
  const nvtxDomainHandle_t domain = Domain::get().handle();
  if (domain == nullptr || (open_ == phase && key_ == key)) return;
  leave();
  const nvtxEventAttributes_t outer = attributes(std::string(to_string(phase)), colour_of(phase));
  // A profiler sums by name: what is the variant's own work alone must have a name of its own.
  const std::string name =
      phase == Phase::measure ? key : fmt::format("{} ({})", key, to_string(phase));
  const nvtxEventAttributes_t inner = attributes(name, colour_of(phase));
  (void)nvtxDomainRangePushEx(domain, &outer);
  (void)nvtxDomainRangePushEx(domain, &inner);
  open_ = phase;
  key_ = key;
}

void NvtxPhases::leave() {
  if (!open_) return;
  (void)nvtxDomainRangePop(Domain::get().handle());
  (void)nvtxDomainRangePop(Domain::get().handle());
  open_.reset();
}

void NvtxPhases::conclude(const std::string& key, Outcome outcome, double ns) {
  leave();
  const nvtxDomainHandle_t domain = Domain::get().handle();
  if (domain == nullptr) return;
  nvtxEventAttributes_t mark =
      attributes(fmt::format("{} {}", to_string(outcome), key), colour_of(outcome));
  mark.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  mark.payload.dValue = ns;
  nvtxDomainMarkEx(domain, &mark);
}

#else

bool is_nvtx_attached() { return false; }
void NvtxPhases::enter(Phase, const std::string&) {}
void NvtxPhases::leave() {}
void NvtxPhases::conclude(const std::string&, Outcome, double) {}

#endif

NvtxPhases::~NvtxPhases() { leave(); }

NvtxPreparing::NvtxPreparing(NvtxPhases& phases) : phases_(&phases), before_(phases.open_) {
  if (before_) phases.enter(Phase::prepare, std::string(phases.key_));
}

NvtxPreparing::~NvtxPreparing() {
  if (before_) phases_->enter(*before_, std::string(phases_->key_));
}

}  // namespace fusebench
