// The baseline: what eager PyTorch does on a CPU, oneDNN's deconvolution with its bias, a clone, and four
// passes with a new tensor for each result.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "variants/conv_transpose3d_residual/cpu_variant.hpp"
#include "variants/conv_transpose3d_residual/onednn_deconvolution.hpp"
#include "variants/residual_epilogue/cpu_variant.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

#if FUSEBENCH_HAVE_ONEDNN

using Tensor = std::unique_ptr<float[]>;

constexpr std::int64_t piece = 32768;

class Unfused {
 public:
  explicit Unfused(const ConvTranspose3d& sizes)
      : sizes_{sizes.n * sizes.out_channels, sizes.out_channels, sizes.output_positions()},
        deconvolution_(sizes, sizes.bias) {}

  // A tensor is freed as soon as its last reader is done, as Python's reference counts would.
  void run(const CpuCall& call) {
    const Tensor c = new_tensor();
    deconvolution_.run(call.x, call.w, call.conv_bias, c.get());
    if (deconvolution_.layout() != OneDnnDeconvolution::Layout::plain) {
      deconvolution_.copy_result(c.get());
    }
    const Tensor original = new_tensor();
    for_openmp_pieces(elements(), piece, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(original.get() + begin, c.get() + begin,
                  static_cast<std::size_t>(end - begin) * sizeof(float));
    });
    Tensor biased = new_tensor();
    add_bias(c.get(), call.b, biased.get());
    Tensor doubled = new_tensor();
    add(biased.get(), original.get(), doubled.get());
    biased.reset();
    const Tensor scaled = new_tensor();
    multiply(doubled.get(), original.get(), scaled.get());
    doubled.reset();
    add(scaled.get(), original.get(), call.y);
  }
  [[nodiscard]] std::string description() const { return deconvolution_.description(); }

 private:
  [[nodiscard]] std::int64_t elements() const { return sizes_.elements(); }
  [[nodiscard]] Tensor new_tensor() const {
    return std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(elements()));
  }

  void add_bias(const float* x, const float* b, float* out) const {
    for_openmp_pieces(elements(), piece, [&](std::int64_t begin, std::int64_t end) {
      residual_epilogue::for_row_pieces(
          sizes_, begin, end, [&](std::int64_t offset, std::int64_t count, std::int64_t channel) {
            for (std::int64_t i = offset; i < offset + count; ++i) out[i] = x[i] + b[channel];
          });
    });
  }
  void add(const float* x, const float* z, float* out) const {
    for_openmp_pieces(elements(), piece, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) out[i] = x[i] + z[i];
    });
  }
  void multiply(const float* x, const float* z, float* out) const {
    for_openmp_pieces(elements(), piece, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) out[i] = x[i] * z[i];
    });
  }

  residual_epilogue::Sizes sizes_;
  OneDnnDeconvolution deconvolution_;
};

CpuPlan plan(const ConvTranspose3d& sizes, const Configuration&) {
  auto made = std::make_shared<Unfused>(sizes);
  const std::string description = made->description();
  return {[made](const CpuCall& call) { made->run(call); }, description};
}

const char* const unavailable = "";

#else

CpuPlan plan(const ConvTranspose3d&, const Configuration&) { return {}; }

const char* const unavailable = "this build has no oneDNN: install libdnnl-dev and build again";

#endif

const bool registered = add_cpu_variant({
    .name = "cpu_onednn_unfused",
    .idea = "oneDNN's deconvolution, a clone and four passes, each to a new tensor: the baseline",
    .precision = Precision::float32,
    .plan = plan,
    .baseline = true,
    .unavailable = unavailable,
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
