// NVRTC: from embedded sources to machine code for one architecture.
#include "harness/device/cuda/compiler.hpp"

#include <dlfcn.h>
#include <fmt/ranges.h>
#include <nvrtc.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/cuda/dynamic_library.hpp"
#include "harness/device/cuda/kernel_cache.hpp"

namespace fusebench {
namespace {

// FUSEBENCH_NVRTC_FOLDER is where the build found the toolkit; an installed tree falls back on the
// linker's path and the usual places.
std::vector<std::string> nvrtc_names() {
  const std::string major = std::to_string(FUSEBENCH_NVRTC_MAJOR);
  const std::string name = "libnvrtc.so." + major;
  std::vector<std::string> names;
  // Who names a library wants that one and no other.
  if (const char* chosen = std::getenv("FUSEBENCH_NVRTC"); chosen != nullptr) return {chosen};
  for (const std::string folder :
       {FUSEBENCH_NVRTC_FOLDER "/", "", "/usr/local/cuda/lib64/", "/usr/lib/x86_64-linux-gnu/"}) {
    names.push_back(folder + name);
  }
  return names;
}

std::string what_is_looked_for() {
  if (const char* chosen = std::getenv("FUSEBENCH_NVRTC"); chosen != nullptr) {
    return fmt::format("NVRTC as FUSEBENCH_NVRTC={}", chosen);
  }
  return "NVRTC (libnvrtc, of the CUDA Toolkit or pip's nvidia-cuda-nvrtc)";
}

class Nvrtc {
 public:
  static const Nvrtc& get() {
    static const Nvrtc instance;
    return instance;
  }

  void check(nvrtcResult result, const char* call) const {
    if (result != NVRTC_SUCCESS) throw Error("{}: {}", call, GetErrorString(result));
  }

  /// "13.0"
  std::string version() const {
    int major = 0;
    int minor = 0;
    check(Version(&major, &minor), "nvrtcVersion");
    return fmt::format("{}.{}", major, minor);
  }

 private:
  // In pip's wheel nothing tells NVRTC where its built-in headers are, and it looks for them by name
  // alone: a library of that name that is already loaded is found.
  void load_builtins_beside() const {
    Dl_info where{};
    if (dladdr(reinterpret_cast<void*>(Version), &where) == 0 || where.dli_fname == nullptr) return;
    const std::filesystem::path folder = std::filesystem::path(where.dli_fname).parent_path();
    (void)dlopen((folder / ("libnvrtc-builtins.so." + version())).c_str(), RTLD_NOW | RTLD_LOCAL);
  }

  Nvrtc() : library_(what_is_looked_for(), nvrtc_names()) { load_builtins_beside(); }
  DynamicLibrary library_;

 public:
#define FUSEBENCH_NVRTC_FUNCTION(name) \
  decltype(&nvrtc##name) name = library_.symbol<decltype(&nvrtc##name)>("nvrtc" #name)
  FUSEBENCH_NVRTC_FUNCTION(Version);
  FUSEBENCH_NVRTC_FUNCTION(GetErrorString);
  FUSEBENCH_NVRTC_FUNCTION(CreateProgram);
  FUSEBENCH_NVRTC_FUNCTION(DestroyProgram);
  FUSEBENCH_NVRTC_FUNCTION(CompileProgram);
  FUSEBENCH_NVRTC_FUNCTION(GetProgramLogSize);
  FUSEBENCH_NVRTC_FUNCTION(GetProgramLog);
  FUSEBENCH_NVRTC_FUNCTION(GetCUBINSize);
  FUSEBENCH_NVRTC_FUNCTION(GetCUBIN);
#undef FUSEBENCH_NVRTC_FUNCTION
};

using Sources = std::map<std::string, std::string>;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error("cannot read kernel source {}; --kernels must name a fusebench checkout", path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The kernel itself and every header it might include.
Sources gather_sources(const std::string& main, const std::string& folder) {
  Sources sources;
  for (const auto& [name, text] : registry().sources()) {
    if (name != main && !name.ends_with(".cuh") && !name.ends_with(".hd.hpp")) continue;
    sources[name] = folder.empty() ? std::string(text) : read_file(folder + "/" + name);
  }
  if (!sources.contains(main))
    throw Error("no kernel source '{}' is built into this program", main);
  return sources;
}

std::vector<std::string> fixed_options(const KernelSpec& spec, const Architecture& target) {
  return {"-arch=" + target.to_string(), "-std=c++20", "--device-as-default-execution-space",
          "--ptxas-options=-v", spec.contract ? "--fmad=true" : "--fmad=false"};
}

std::vector<std::string> options_for(const KernelSpec& spec, const Architecture& target) {
  std::vector<std::string> options = fixed_options(spec, target);
  for (const auto& [name, value] : spec.macros) options.push_back("-D" + name + "=" + value);
  return options;
}

std::string first_message(const std::string& log) {
  const std::size_t error = log.find("error");
  const std::size_t begin = error == std::string::npos ? 0 : log.rfind('\n', error) + 1;
  return log.substr(begin, log.find('\n', begin) - begin);
}

KernelCache::Entry compile(const std::string& main, const Sources& sources,
                           const std::vector<std::string>& options) {
  const Nvrtc& nvrtc = Nvrtc::get();
  std::vector<const char*> names;
  std::vector<const char*> texts;
  for (const auto& [name, text] : sources) {
    if (name == main) continue;
    names.push_back(name.c_str());
    texts.push_back(text.c_str());
  }
  nvrtcProgram program = nullptr;
  nvrtc.check(nvrtc.CreateProgram(&program, sources.at(main).c_str(), main.c_str(),
                                  static_cast<int>(names.size()), texts.data(), names.data()),
              "nvrtcCreateProgram");
  const std::unique_ptr<nvrtcProgram, void (*)(nvrtcProgram*)> owner(
      &program, [](nvrtcProgram* p) { (void)Nvrtc::get().DestroyProgram(p); });

  std::vector<const char*> flags;
  for (const std::string& option : options) flags.push_back(option.c_str());
  const nvrtcResult result =
      nvrtc.CompileProgram(program, static_cast<int>(flags.size()), flags.data());

  KernelCache::Entry entry;
  std::size_t bytes = 0;
  nvrtc.check(nvrtc.GetProgramLogSize(program, &bytes), "nvrtcGetProgramLogSize");
  entry.log.resize(bytes);
  nvrtc.check(nvrtc.GetProgramLog(program, entry.log.data()), "nvrtcGetProgramLog");
  while (entry.log.ends_with('\0')) entry.log.pop_back();
  if (result != NVRTC_SUCCESS)
    throw Error("{} does not compile: {}", main, first_message(entry.log));
  nvrtc.check(nvrtc.GetCUBINSize(program, &bytes), "nvrtcGetCUBINSize");
  entry.cubin.resize(bytes);
  nvrtc.check(nvrtc.GetCUBIN(program, entry.cubin.data()), "nvrtcGetCUBIN");
  return entry;
}

}  // namespace

std::string compiler_options(const KernelSpec& spec, const Architecture& target) {
  return fmt::format("{}", fmt::join(fixed_options(spec, target), " "));
}

std::string compiler_version() { return "NVRTC " + Nvrtc::get().version(); }

CompiledKernel compile_kernel(const KernelSpec& spec, const Architecture& target,
                              const std::string& folder) {
  const std::string version = compiler_version();
  const Sources sources = gather_sources(spec.source, folder);
  const std::vector<std::string> options = options_for(spec, target);

  std::vector<std::string_view> parts = {version, spec.source};
  for (const auto& [name, text] : sources) parts.insert(parts.end(), {name, text});
  parts.insert(parts.end(), options.begin(), options.end());
  const std::string key = hash_of(parts);

  const KernelCache cache(kernel_cache_folder());
  auto entry = cache.find(key);
  if (!entry) {
    entry = compile(spec.source, sources, options);
    cache.keep(key, *entry);
  }
  return {entry->cubin, parse_ptxas_report(entry->log)};
}

}  // namespace fusebench
