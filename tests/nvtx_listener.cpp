// What a profiler does with NVTX, in a few lines: writes each range and mark that it hears to a file, by process.
// Loaded through NVTX_INJECTION64_PATH; FUSEBENCH_NVTX_LOG is the file's beginning, the process its end.
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>

namespace {

std::deque<std::string> domains;
std::deque<std::string> strings;

std::FILE* log_file() {
  static std::FILE* const file = [] {
    const char* const start = std::getenv("FUSEBENCH_NVTX_LOG");
    const std::string path =
        std::string(start == nullptr ? "nvtx." : start) + std::to_string(getpid());
    return std::fopen(path.c_str(), "w");
  }();
  return file;
}

void say(const char* what, const std::string& text, const std::string& more = "") {
  std::fprintf(log_file(), "%s\t%s\t%s\n", what, text.c_str(), more.c_str());
  std::fflush(log_file());
}

std::string text_of(const nvtxEventAttributes_t* event) {
  if (event->messageType != NVTX_MESSAGE_TYPE_REGISTERED) return "not registered";
  return *reinterpret_cast<const std::string*>(event->message.registered);
}

std::string rest_of(const nvtxEventAttributes_t* event) {
  char text[64];
  std::snprintf(text, sizeof text, "%08X %.1f", event->color,
                event->payloadType == NVTX_PAYLOAD_TYPE_DOUBLE ? event->payload.dValue : -1.0);
  return text;
}

nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  say("domain", name);
  return reinterpret_cast<nvtxDomainHandle_t>(&domains.emplace_back(name));
}

nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const char* text) {
  say("string", text);
  return reinterpret_cast<nvtxStringHandle_t>(&strings.emplace_back(text));
}

void NVTX_API mark(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  say("mark", text_of(event), rest_of(event));
}

int NVTX_API push(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  say("push", text_of(event), rest_of(event));
  return 0;
}

int NVTX_API pop(nvtxDomainHandle_t) {
  say("pop", "");
  return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0 ||
      size <= NVTX_CBID_CORE2_DomainCreateA) {
    return 0;
  }
  const auto listen = [&](int id, auto* function) {
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  };
  listen(NVTX_CBID_CORE2_DomainCreateA, create_domain);
  listen(NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  listen(NVTX_CBID_CORE2_DomainMarkEx, mark);
  listen(NVTX_CBID_CORE2_DomainRangePushEx, push);
  listen(NVTX_CBID_CORE2_DomainRangePop, pop);
  return 1;
}
