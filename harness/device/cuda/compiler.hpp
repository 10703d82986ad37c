// Compiling a kernel at run time with NVRTC, with or without a device, and keeping the result on disk.
#pragma once

#include <string>
#include <vector>

#include "harness/core/kernel.hpp"

namespace fusebench {

/// What ptxas says of one entry point.
struct KernelResources {
  std::string entry;
  int registers = 0;
  int shared_bytes = 0;  ///< static
  int stack_bytes = 0;
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
};

struct CompiledKernel {
  std::string cubin;
  std::vector<KernelResources> resources;
};

/// "NVRTC 13.0". Throws Unavailable when NVRTC is not on this machine or this build has no CUDA.
[[nodiscard]] std::string compiler_version();

/// What compile_kernel hands to the compiler beside the macros, as one text.
[[nodiscard]] std::string compiler_options(const KernelSpec& spec, const Architecture& target);

/// Compiles, or reads $XDG_CACHE_HOME/fusebench/kernels (~/.cache there) under a hash of every
/// source that could be included, the options, the architecture and the compiler's version.
/// `folder`, when not empty, holds sources that replace those built in. Throws Error with the
/// compiler's first message; Unavailable as compiler_version does.
[[nodiscard]] CompiledKernel compile_kernel(const KernelSpec& spec, const Architecture& target,
                                            const std::string& folder);

/// Reads ptxas's verbose report (-Xptxas -v).
[[nodiscard]] std::vector<KernelResources> parse_ptxas_report(const std::string& log);

/// The cache's folder; empty when there is no home directory, and nothing is kept then.
[[nodiscard]] std::string kernel_cache_folder();

}  // namespace fusebench
