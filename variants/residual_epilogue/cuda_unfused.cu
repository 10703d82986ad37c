// The baseline: what eager PyTorch does on a GPU, a copy and four elementwise kernels, each with a
// result of its own. Memory is not allocated in the call, as with PyTorch's caching allocator.
#ifdef __CUDACC_RTC__
#include "variants/residual_epilogue/epilogue.cuh"

constexpr u32 tile = BLOCK_SIZE * 4;

// out[i] = operation(i, x[i], z[i]) over float4s where everything is aligned, otherwise one by one.
template <typename Operation>
__device__ void elementwise(float* out, const float* x, const float* z, u64 elements,
                            const Operation& operation) {
  const u64 first = blockIdx.x * u64(tile);
  if (first + tile <= elements && aligned(out, x, 16) && aligned(z, z, 16)) {
    const u64 i = first + threadIdx.x * 4;
    const float4 p = *reinterpret_cast<const float4*>(x + i);
    const float4 q = *reinterpret_cast<const float4*>(z + i);
    *reinterpret_cast<float4*>(out + i) =
        make_float4(operation(i, p.x, q.x), operation(i + 1, p.y, q.y), operation(i + 2, p.z, q.z),
                    operation(i + 3, p.w, q.w));
    return;
  }
  for (u64 i = first + threadIdx.x; i < elements && i < first + tile; i += BLOCK_SIZE) {
    out[i] = operation(i, x[i], z[i]);
  }
}

extern "C" __global__ void clone(float* out, const float* x, u64 elements) {
  elementwise(out, x, x, elements, [](u64, float p, float) { return p; });
}
extern "C" __global__ void add_bias(float* out, const float* x, const float* b, Extents extents) {
  const TileBias<tile> bias(b, extents, blockIdx.x * u64(tile));
  elementwise(out, x, x, extents.elements,
              [&](u64 i, float p, float) { return __fadd_rn(p, bias.at(i)); });
}
extern "C" __global__ void add(float* out, const float* x, const float* z, u64 elements) {
  elementwise(out, x, z, elements, [](u64, float p, float q) { return __fadd_rn(p, q); });
}
extern "C" __global__ void multiply(float* out, const float* x, const float* z, u64 elements) {
  elementwise(out, x, z, elements, [](u64, float p, float q) { return __fmul_rn(p, q); });
}

#else
#include "variants/residual_epilogue/cuda_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

class UnfusedPlan final : public Plan {
 public:
  explicit UnfusedPlan(const CudaRequest& request)
      : module_(request.module),
        clone_(module_->kernel("clone")),
        add_bias_(module_->kernel("add_bias")),
        add_(module_->kernel("add")),
        multiply_(module_->kernel("multiply")),
        shape_(one_tile_a_block(request, 4 * request.configuration.integer("block_size"))),
        extents_(request.sizes) {
    const auto bytes = static_cast<std::size_t>(request.sizes.elements()) * sizeof(float);
    for (Buffer& buffer : results_) buffer = request.device.allocate(bytes);
  }

  void enqueue(const TensorTable& tensors) override {
    const float* c = tensors.input(tensor_c);
    // The product reuses the sum's memory, which the caching allocator would hand out again.
    auto* original = static_cast<float*>(results_[0].address());
    auto* biased = static_cast<float*>(results_[1].address());
    auto* doubled = static_cast<float*>(results_[2].address());
    float* scaled = biased;
    const std::uint64_t n = extents_.elements;
    clone_->launch(shape_, original, c, n);
    add_bias_->launch(shape_, biased, c, tensors.input(tensor_b), extents_);
    add_->launch(shape_, doubled, biased, original, n);
    multiply_->launch(shape_, scaled, doubled, original, n);
    add_->launch(shape_, tensors.output(), scaled, original, n);
  }

 private:
  std::shared_ptr<CudaModule> module_;
  std::unique_ptr<CudaKernel> clone_, add_bias_, add_, multiply_;
  LaunchShape shape_;
  KernelExtents extents_;
  std::array<Buffer, 3> results_;
};

const bool registered = add_cuda_variant({
    .name = "cuda_unfused",
    .idea = "clone and four kernels, each to a new tensor, as eager PyTorch: the baseline",
    .source = __FILE__,
    .precision = Precision::exact_order,
    .parameters = ParameterSpace({{"block_size", integers({32, 64, 128, 256, 512, 1024}), "256"}}),
    .plan = [](const CudaRequest& request) -> std::unique_ptr<Plan> {
      return std::make_unique<UnfusedPlan>(request);
    },
    .baseline = true,
});

}  // namespace
}  // namespace fusebench::residual_epilogue
#endif
