// What a CUDA variant of residual_epilogue writes down beside its kernel. One .cu file holds both: the
// run-time compiler sees the kernel, the host's compiler the registration (see cuda_float4.cu).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "harness/core/variant.hpp"
#include "harness/device/cuda/cuda_device.hpp"
#include "reference/residual_epilogue.hpp"

namespace fusebench::residual_epilogue {

/// The kernels' last argument; struct Extents in epilogue.cuh has the same layout.
struct KernelExtents {
  explicit KernelExtents(const Sizes& sizes)
      : spatial(sizes.spatial),
        channels(sizes.channels),
        elements(static_cast<std::uint64_t>(sizes.elements())) {}
  FastDivisor spatial;
  FastDivisor channels;
  std::uint64_t elements;
};

/// What a plan is made from; the references live until prepare returns.
struct CudaRequest {
  const Sizes& sizes;
  const Configuration& configuration;
  CudaDevice& device;
  std::shared_ptr<CudaModule> module;
};

struct CudaVariant {
  std::string name;
  std::string idea;
  std::string source;  ///< __FILE__: the kernel is in the same file (the build makes it a path from
                       ///< the root of the checkout, as sources are registered)
  Precision precision = Precision::exact_order;
  /// Parameters reach the kernel as macros in capitals: block_size=256 is -DBLOCK_SIZE=256.
  ParameterSpace parameters = {};
  /// Grid, block and dynamic shared memory of the kernel `epilogue(y, c, b, extents)`.
  std::function<LaunchShape(const CudaRequest&, CudaKernel&)> shape = {};
  /// For a variant that is more than that one launch; replaces `shape`.
  std::function<std::unique_ptr<Plan>(const CudaRequest&)> plan = {};
  bool contract = false;           ///< let the compiler fuse multiply and add
  InPlace in_place = InPlace::no;  ///< may, or must, y be c's memory?
  bool baseline = false;
  int oldest_architecture = 0;  ///< e.g. 90
};

/// Registers and returns true.
bool add_cuda_variant(CudaVariant variant);

/// One block for each tile of `elements_per_block`.
[[nodiscard]] inline LaunchShape one_tile_a_block(const CudaRequest& request,
                                                  std::int64_t elements_per_block) {
  return {.blocks = blocks_for(request.sizes.elements(), elements_per_block),
          .threads = static_cast<std::uint32_t>(request.configuration.integer("block_size"))};
}

/// A grid that just fills the device, blocks_per_sm blocks a multiprocessor where that many are
/// resident: more would only queue behind the others. Throws Unavailable when not one fits.
[[nodiscard]] LaunchShape persistent_grid(const CudaRequest& request, CudaKernel& kernel,
                                          std::int64_t elements_per_block);

}  // namespace fusebench::residual_epilogue
