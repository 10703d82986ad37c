// CUPTI's activity interface, looked up in its library at run time.
#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_result.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/error.hpp"
#include "harness/device/cuda/dynamic_library.hpp"
#include "harness/trace/activity_records.hpp"
#include "harness/trace/device_recorder.hpp"

namespace fusebench {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::align_val_t buffer_alignment{8};
constexpr std::uint64_t shortest_told_ns = 1000;
constexpr CUpti_ExternalCorrelationKind our_calls = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
// CONCURRENT_KERNEL, since KERNEL lets only one run at a time.
constexpr std::array<CUpti_ActivityKind, 7> kinds = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                                     CUPTI_ACTIVITY_KIND_MEMCPY,
                                                     CUPTI_ACTIVITY_KIND_MEMSET,
                                                     CUPTI_ACTIVITY_KIND_RUNTIME,
                                                     CUPTI_ACTIVITY_KIND_DRIVER,
                                                     CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                                     CUPTI_ACTIVITY_KIND_OVERHEAD};

// Who names a library wants that one and no other.
std::vector<std::string> library_names() {
  if (const char* chosen = std::getenv("FUSEBENCH_CUPTI"); chosen != nullptr) return {chosen};
  const std::string name = "libcupti.so." + std::to_string(FUSEBENCH_CUPTI_MAJOR);
  std::vector<std::string> names;
  for (const std::string folder : {FUSEBENCH_CUPTI_FOLDER "/", "", "/usr/local/cuda/lib64/",
                                   "/usr/local/cuda/extras/CUPTI/lib64/"}) {
    names.push_back(folder + name);
  }
  return names;
}

std::string what_is_looked_for() {
  if (const char* chosen = std::getenv("FUSEBENCH_CUPTI"); chosen != nullptr) {
    return fmt::format("CUPTI as FUSEBENCH_CUPTI={}", chosen);
  }
  return fmt::format("CUPTI (libcupti.so.{}, of the CUDA Toolkit or pip's nvidia-cuda-cupti)",
                     FUSEBENCH_CUPTI_MAJOR);
}

class Cupti {
 public:
  static const Cupti& get() {
    static const Cupti instance;
    return instance;
  }

  [[nodiscard]] std::string message(CUptiResult result) const {
    const char* text = nullptr;
    (void)GetResultString(result, &text);
    return text == nullptr ? fmt::format("CUPTI error {}", static_cast<int>(result)) : text;
  }

 private:
  Cupti() : library_(what_is_looked_for(), library_names()) {}
  DynamicLibrary library_;

 public:
#define FUSEBENCH_CUPTI_FUNCTION(name) \
  decltype(&cupti##name) name = library_.symbol<decltype(&cupti##name)>("cupti" #name)
  FUSEBENCH_CUPTI_FUNCTION(GetResultString);
  FUSEBENCH_CUPTI_FUNCTION(GetTimestamp);
  FUSEBENCH_CUPTI_FUNCTION(Subscribe);
  FUSEBENCH_CUPTI_FUNCTION(Unsubscribe);
  FUSEBENCH_CUPTI_FUNCTION(GetCallbackName);
  FUSEBENCH_CUPTI_FUNCTION(SetThreadIdType);
  FUSEBENCH_CUPTI_FUNCTION(ActivityRegisterCallbacks);
  FUSEBENCH_CUPTI_FUNCTION(ActivityEnable);
  FUSEBENCH_CUPTI_FUNCTION(ActivityDisable);
  FUSEBENCH_CUPTI_FUNCTION(ActivityFlushAll);
  FUSEBENCH_CUPTI_FUNCTION(ActivityGetNextRecord);
  FUSEBENCH_CUPTI_FUNCTION(ActivityGetNumDroppedRecords);
  FUSEBENCH_CUPTI_FUNCTION(ActivityPushExternalCorrelationId);
  FUSEBENCH_CUPTI_FUNCTION(ActivityPopExternalCorrelationId);
#undef FUSEBENCH_CUPTI_FUNCTION
};

// A record as it lies in CUPTI's buffer. Newer libraries append to these; what is read here stays where it is.
template <typename Record>
const Record& as(const CUpti_Activity& record) {
  return reinterpret_cast<const Record&>(record);
}

std::string function_name(CUpti_ActivityKind kind, CUpti_CallbackId id) {
  const char* name = nullptr;
  const CUpti_CallbackDomain domain = kind == CUPTI_ACTIVITY_KIND_RUNTIME
                                          ? CUPTI_CB_DOMAIN_RUNTIME_API
                                          : CUPTI_CB_DOMAIN_DRIVER_API;
  if (Cupti::get().GetCallbackName(domain, id, &name) != CUPTI_SUCCESS || name == nullptr) {
    return fmt::format("API function {}", id);
  }
  return without_version(name);
}

const char* direction_of(std::uint8_t copy_kind) {
  switch (copy_kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return "memcpy host to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return "memcpy device to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD: return "memcpy device to device";
    default: return "memcpy";
  }
}

const char* describe(CUpti_ActivityOverheadKind kind) {
  switch (static_cast<int>(kind)) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER: return "driver's compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH: return "CUPTI flushes a buffer";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION: return "CUPTI instruments";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE: return "CUPTI makes resources";
    default: return "CUPTI or driver at work";
  }
}

// What records of work have in common.
template <class Record>
DeviceWork work_in(WorkKind kind, const Record& record, std::string name) {
  return {kind,
          record.deviceId,
          record.streamId,
          {record.start, record.end},
          std::move(name),
          record.correlationId};
}

DeviceWork kernel_in(const CUpti_Activity& record) {
  const auto& kernel = as<CUpti_ActivityKernel9>(record);
  DeviceWork work = work_in(WorkKind::kernel, kernel, readable_kernel_name(kernel.name));
  work.blocks = std::int64_t{kernel.gridX} * kernel.gridY * kernel.gridZ;
  work.threads = std::int64_t{kernel.blockX} * kernel.blockY * kernel.blockZ;
  work.registers = kernel.registersPerThread;
  work.shared_bytes = std::int64_t{kernel.staticSharedMemory} + kernel.dynamicSharedMemory;
  return work;
}

class CuptiRecorder final : public DeviceRecorder {
 public:
  CuptiRecorder() {
    const Cupti& cupti = Cupti::get();
    // The activity interface works without, and then takes the records of whoever else uses it.
    const CUptiResult result = cupti.Subscribe(
        &subscriber_, [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}, nullptr);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
      throw Unavailable("another profiler holds CUPTI, which serves one at a time");
    }
    if (result != CUPTI_SUCCESS) {
      throw Unavailable("CUPTI does not start: {}", cupti.message(result));
    }
    current_ = this;
    try {
      require(cupti.SetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM), "cuptiSetThreadIdType");
      require(cupti.ActivityRegisterCallbacks(give_buffer, take_buffer),
              "cuptiActivityRegisterCallbacks");
      std::uint64_t ns = 0;
      require(cupti.GetTimestamp(&ns), "cuptiGetTimestamp");
    } catch (...) {
      stop();
      throw;
    }
  }
  CuptiRecorder(const CuptiRecorder&) = delete;
  CuptiRecorder& operator=(const CuptiRecorder&) = delete;
  ~CuptiRecorder() override { stop(); }

  std::uint64_t now_ns() const override {
    std::uint64_t ns = 0;
    (void)Cupti::get().GetTimestamp(&ns);
    return ns;
  }

  void start() override {
    try {
      for (const CUpti_ActivityKind kind : kinds) {
        require(Cupti::get().ActivityEnable(kind), "cuptiActivityEnable");
      }
    } catch (...) {  // some kinds alone would be half a record
      disable();
      throw;
    }
  }

  void begin_call(std::size_t call) override {
    (void)Cupti::get().ActivityPushExternalCorrelationId(our_calls, call);
  }
  void end_call() override {
    std::uint64_t call = 0;
    (void)Cupti::get().ActivityPopExternalCorrelationId(our_calls, &call);
  }

  void finish(Timeline& timeline) override {
    const Cupti& cupti = Cupti::get();
    disable();
    // Forced: buffers that are not full come too.
    const CUptiResult flushed = cupti.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    const std::lock_guard lock(mutex_);
    records_.move_to(timeline, shortest_told_ns);
    if (flushed != CUPTI_SUCCESS) {
      throw Error("cuptiActivityFlushAll: {}", cupti.message(flushed));
    }
  }

 private:
  static void disable() {
    for (const CUpti_ActivityKind kind : kinds) (void)Cupti::get().ActivityDisable(kind);
  }
  static void require(CUptiResult result, const char* call) {
    if (result == CUPTI_SUCCESS) return;
    throw Unavailable("{}: {}", call, Cupti::get().message(result));
  }

  void stop() {
    if (subscriber_ == nullptr) return;
    const Cupti& cupti = Cupti::get();
    disable();
    (void)cupti.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    (void)cupti.Unsubscribe(subscriber_);
    subscriber_ = nullptr;
    current_ = nullptr;
  }

  static void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
    *buffer =
        static_cast<std::uint8_t*>(::operator new(buffer_bytes, buffer_alignment, std::nothrow));
    *size = *buffer == nullptr ? 0 : buffer_bytes;
    *most = 0;  // as many as fit
  }

  // On a thread of CUPTI's.
  static void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                   std::size_t, std::size_t valid) {
    if (CuptiRecorder* recorder = current_) recorder->take(context, stream, buffer, valid);
    ::operator delete(buffer, buffer_alignment);
  }

  void take(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t valid) {
    const Cupti& cupti = Cupti::get();
    const std::lock_guard lock(mutex_);
    CUpti_Activity* record = nullptr;
    while (valid > 0 && cupti.ActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
      add(*record);
    }
    std::size_t dropped = 0;
    if (cupti.ActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) {
      records_.add_dropped(dropped);
    }
  }

  void add(const CUpti_Activity& record) {
    switch (record.kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: records_.add(kernel_in(record)); break;
      case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const auto& copy = as<CUpti_ActivityMemcpy5>(record);
        DeviceWork work = work_in(WorkKind::memcpy, copy, direction_of(copy.copyKind));
        work.bytes = copy.bytes;
        records_.add(std::move(work));
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMSET: {
        const auto& set = as<CUpti_ActivityMemset4>(record);
        DeviceWork work = work_in(WorkKind::memset, set, "memset");
        work.bytes = set.bytes;
        records_.add(std::move(work));
        break;
      }
      case CUPTI_ACTIVITY_KIND_RUNTIME:
      case CUPTI_ACTIVITY_KIND_DRIVER: {
        const auto& call = as<CUpti_ActivityAPI>(record);
        records_.add(ApiCall{call.threadId,
                             {call.start, call.end},
                             function_name(call.kind, call.cbid),
                             call.correlationId});
        break;
      }
      case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
        const auto& link = as<CUpti_ActivityExternalCorrelation>(record);
        if (link.externalKind == our_calls) records_.belongs(link.correlationId, link.externalId);
        break;
      }
      case CUPTI_ACTIVITY_KIND_OVERHEAD: {
        const auto& overhead = as<CUpti_ActivityOverhead>(record);
        const bool is_on_thread = overhead.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD;
        records_.add(Overhead{is_on_thread ? overhead.objectId.pt.threadId : getpid(),
                              {overhead.start, overhead.end},
                              describe(overhead.overheadKind)});
        break;
      }
      default: break;
    }
  }

  // CUPTI's callbacks carry no pointer of ours.
  static inline std::atomic<CuptiRecorder*> current_ = nullptr;

  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::mutex mutex_;
  ActivityRecords records_;
};

}  // namespace

std::unique_ptr<DeviceRecorder> open_cupti() { return std::make_unique<CuptiRecorder>(); }

}  // namespace fusebench
