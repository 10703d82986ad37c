#include "tests/emulation/emulated_gpu.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <thread>

#include "harness/core/error.hpp"
#include "tests/emulation/copies.hpp"
#include "tests/emulation/host_block.hpp"
#include "tests/emulation/products.hpp"

namespace fusebench::emulation {
namespace {

using Entry = void (*)(const void*);

// Runs `work(block)` for each block, as many at once as there are processors. Throws the first error.
void run_blocks(unsigned blocks, int processors, const std::function<void(unsigned)>& work) {
  std::atomic<unsigned> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  std::vector<std::thread> threads;
  for (int i = 0; i < processors; ++i) {
    threads.emplace_back([&] {
      for (unsigned block = next++; block < blocks; block = next++) {
        try {
          work(block);
        } catch (...) {
          const std::scoped_lock lock(mutex);
          if (!error) error = std::current_exception();
          next = blocks;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

class EmulatedKernel final : public CudaKernel {
 public:
  EmulatedKernel(Entry entry, int processors, std::uint64_t seed, std::int64_t& launches)
      : entry_(entry), processors_(processors), seed_(seed), launches_(&launches) {}

  int blocks_per_multiprocessor(std::uint32_t, std::uint32_t) override { return 1; }

 private:
  void launch_with(void*, const LaunchShape& shape, const void* const* args) override {
    if (shape.dynamic_shared_bytes > shared_bytes) throw Error("too much shared memory");
    const std::uint64_t of_launch = seed_ + static_cast<std::uint64_t>(++*launches_) * 65537;
    run_blocks(shape.blocks, processors_, [&](unsigned block) {
      block_index = {block, 0, 0};
      grid_extent = {shape.blocks, 1, 1};
      forget_products();
      HostBlock(shape.threads, of_launch + block).run([&] { entry_(args[0]); });
    });
  }

  Entry entry_;
  int processors_;
  std::uint64_t seed_;
  std::int64_t* launches_;
};

class EmulatedModule final : public CudaModule {
 public:
  EmulatedModule(const std::filesystem::path& library, int processors, std::uint64_t seed,
                 std::int64_t& launches)
      : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)),
        processors_(processors),
        seed_(seed),
        launches_(&launches) {
    if (library_ == nullptr) throw Error("{}", dlerror());
  }
  EmulatedModule(const EmulatedModule&) = delete;
  EmulatedModule& operator=(const EmulatedModule&) = delete;
  ~EmulatedModule() override { (void)dlclose(library_); }

  std::unique_ptr<CudaKernel> kernel(const std::string& name) override {
    void* const entry = dlsym(library_, ("call_" + name).c_str());
    if (entry == nullptr) throw Error("{}", dlerror());
    return std::make_unique<EmulatedKernel>(reinterpret_cast<Entry>(entry), processors_, seed_,
                                            *launches_);
  }

 private:
  void* library_;
  int processors_;
  std::uint64_t seed_;
  std::int64_t* launches_;
};

std::filesystem::path new_folder() {
  std::string name =
      (std::filesystem::temp_directory_path() / "fusebench_emulated_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw Error("cannot make {}", name);
  return name;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// To where the compiler looks for it first.
void write_edited(const SourceEdit& edit, const std::filesystem::path& folder) {
  const auto name = std::filesystem::path("variants/conv_transpose3d_residual") / edit.file;
  std::string text = text_of(FUSEBENCH_ROOT / name);
  const std::size_t at = text.find(edit.from);
  if (at == std::string::npos || text.find(edit.from, at + 1) != std::string::npos) {
    throw Error("{} does not have once: {}", edit.file, edit.from);
  }
  text.replace(at, edit.from.size(), edit.to);
  std::filesystem::create_directories((folder / name).parent_path());
  std::ofstream(folder / name) << text;
}

}  // namespace

EmulatedGpu::EmulatedGpu(int processors, std::uint64_t seed, const std::optional<SourceEdit>& edit)
    : cpu_(open_device(DeviceKind::cpu, {})), seed_(seed), folder_(new_folder()) {
  traits_ = cpu_->traits();  // kind cpu: the judge's own kernels are the CPU's
  traits_.name = "emulated GPU";
  traits_.processors = processors;
  traits_.shared_memory_bytes = shared_bytes;
  traits_.architecture = Architecture{90, true};
  if (edit) write_edited(*edit, folder_);
}

EmulatedGpu::~EmulatedGpu() {
  modules_.clear();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::shared_ptr<CudaModule> EmulatedGpu::load(const KernelSpec& spec) {
  const std::string root = FUSEBENCH_ROOT;
  std::string command = fmt::format(
      "'{0}' -std=c++20 -O1 -ffp-contract=off -fPIC -shared -Wno-unknown-pragmas -Wno-psabi "
      "-include tests/emulation/cuda_on_host.hpp -I'{1}/tests/emulation/instructions' -I'{3}' "
      "-I'{1}' -DFUSEBENCH_SOURCE='\"{2}\"'",
      FUSEBENCH_CXX, root, spec.source, folder_.string());
  for (const auto& [name, value] : spec.macros) command += fmt::format(" '-D{}={}'", name, value);
  std::shared_ptr<CudaModule>& module = modules_[command];
  if (module == nullptr) {
    const auto library = folder_ / fmt::format("{}.so", modules_.size());
    const auto log = folder_ / "log";
    command += fmt::format(" '{}/tests/emulation/wgmma_on_host.cpp' -o '{}' 2>'{}'", root,
                           library.string(), log.string());
    if (std::system(command.c_str()) != 0) {
      throw Error("{} does not compile for the host:\n{}", spec.source, text_of(log));
    }
    module = std::make_shared<EmulatedModule>(library, traits_.processors, seed_, launches_);
  }
  return module;
}

TensorMap EmulatedGpu::tensor_map(const TensorBoxes& boxes) {
  boxes_.push_back(std::make_unique<TensorBoxes>(boxes));
  return map_of(*boxes_.back());
}

}  // namespace fusebench::emulation
