// The vendor's convolution, and the epilogue where its result is copied anyway: from its own layout to NCDHW.
//
// oneDNN can run post-operations on a convolution's accumulators, but not this epilogue: y uses c three
// times, and an accumulator is gone once something is added to it. Completing the square,
// y = 2 (c + (b + 1) / 4)^2 - (b + 1)^2 / 8, needs it once and would do, but where c is near 0 it subtracts
// two nearly equal numbers: a c of 0 gives not 0 but the rounding errors of (b + 1)^2 / 8, while the float32
// contract's bound goes to 0 with c. Adding conv_bias is all that is left, and that costs least here as well.
#include <algorithm>
#include <array>
#include <memory>

#include "variants/conv_transpose3d_residual/cpu_variant.hpp"
#include "variants/conv_transpose3d_residual/onednn_deconvolution.hpp"
#include "variants/residual_epilogue/cpu_rows.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

#if FUSEBENCH_HAVE_ONEDNN

using Layout = OneDnnDeconvolution::Layout;
using Row = decltype(&residual_epilogue::row_stepwise);

constexpr std::int64_t piece = 4096;  // floats of c that a thread holds in its first cache
constexpr std::int64_t narrow = 256;  // positions of a piece, where there are few channels

class WithEpilogue {
 public:
  WithEpilogue(const ConvTranspose3d& sizes, const Configuration& configuration)
      : sizes_(sizes),
        positions_(sizes.output_positions()),
        library_adds_bias_(sizes.bias && configuration.text("conv_bias") == "library"),
        row_(configuration.text("store") == "streaming" ? residual_epilogue::row_stepwise_streaming
                                                        : residual_epilogue::row_stepwise),
        deconvolution_(sizes, library_adds_bias_) {}

  void run(const CpuCall& call) {
    deconvolution_.run(call.x, call.w, call.conv_bias, call.y);
    if (deconvolution_.layout() == Layout::blocked) {
      finish_blocked(call);
    } else {
      if (deconvolution_.layout() == Layout::unknown) deconvolution_.copy_result(call.y);
      finish_in_place(call);
    }
  }
  [[nodiscard]] std::string description() const { return deconvolution_.description(); }

 private:
  [[nodiscard]] float conv_bias(const CpuCall& call, std::int64_t channel) const {
    return sizes_.bias && !library_adds_bias_ ? call.conv_bias[channel] : 0.0F;
  }

  void finish_in_place(const CpuCall& call) const {
    const std::int64_t pieces = (positions_ + piece - 1) / piece;
    for_openmp_pieces(sizes_.n * sizes_.out_channels * pieces, 1,
                      [&](std::int64_t index, std::int64_t) {
                        const std::int64_t first = index % pieces * piece;
                        const std::int64_t channel = index / pieces % sizes_.out_channels;
                        float* const y = call.y + index / pieces * positions_ + first;
                        const std::int64_t count = std::min(piece, positions_ - first);
                        const float bias = conv_bias(call, channel);
                        for (std::int64_t i = 0; i < count; ++i) y[i] += bias;
                        residual_epilogue::row_stepwise(y, call.b[channel], y, count, /*unroll=*/1);
                      });
  }

  // A piece is some positions of one block of channels: read as it lies, turned in the first cache.
  void finish_blocked(const CpuCall& call) const {
    const std::int64_t block = deconvolution_.block();
    const std::int64_t blocks = (sizes_.out_channels + block - 1) / block;
    const std::int64_t length = std::clamp<std::int64_t>(piece / block / 16 * 16, 16, narrow);
    const std::int64_t pieces = (positions_ + length - 1) / length;
    for_openmp_pieces(sizes_.n * blocks * pieces, 1, [&](std::int64_t index, std::int64_t) {
      const std::int64_t first = index % pieces * length;
      const std::int64_t count = std::min(length, positions_ - first);
      const std::int64_t of_block = index / pieces;
      const std::int64_t item = of_block / blocks;
      const std::int64_t begin = of_block % blocks * block;
      const std::int64_t end = std::min(begin + block, sizes_.out_channels);
      const float* const from = deconvolution_.result() + (of_block * positions_ + first) * block;
      for (std::int64_t channel = begin; channel < end; ++channel) {
        std::array<float, narrow> c;
        const float bias = conv_bias(call, channel);
        for (std::int64_t i = 0; i < count; ++i) {
          c[static_cast<std::size_t>(i)] = from[i * block + channel - begin] + bias;
        }
        float* const y = call.y + (item * sizes_.out_channels + channel) * positions_ + first;
        row_(c.data(), call.b[channel], y, count, /*unroll=*/1);
      }
      residual_epilogue::stream_fence();
    });
  }

  ConvTranspose3d sizes_;
  std::int64_t positions_;
  bool library_adds_bias_;
  Row row_;
  OneDnnDeconvolution deconvolution_;
};

CpuPlan plan(const ConvTranspose3d& sizes, const Configuration& configuration) {
  auto made = std::make_shared<WithEpilogue>(sizes, configuration);
  const std::string description = made->description();
  return {[made](const CpuCall& call) { made->run(call); }, description};
}

std::string unavailable() { return residual_epilogue::rows_unavailable(); }

#else

CpuPlan plan(const ConvTranspose3d&, const Configuration&) { return {}; }

std::string unavailable() {
  return "this build has no oneDNN: install libdnnl-dev and build again";
}

#endif

const bool registered = add_cpu_variant({
    .name = "cpu_onednn_epilogue",
    .idea = "oneDNN's deconvolution, the epilogue on the way from its layout to NCDHW",
    .precision = Precision::float32,
    .parameters = ParameterSpace({{"conv_bias", {"epilogue", "library"}, "epilogue"},
                                  {"store", {"streaming", "cached"}, "streaming"}}),
    .plan = plan,
    .unavailable = unavailable(),
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
