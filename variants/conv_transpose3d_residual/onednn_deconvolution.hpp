// ConvTranspose3d by oneDNN's deconvolution, in whatever layouts it likes best; included only where
// FUSEBENCH_HAVE_ONEDNN is 1.
#pragma once

#if FUSEBENCH_HAVE_ONEDNN

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>

#include "reference/conv_transpose3d.hpp"

namespace fusebench::conv_transpose3d_residual {

class OneDnnDeconvolution {
 public:
  /// Makes primitives, and memory for what must be reordered. `biased`: adds a bias [co] as well. Throws
  /// Unavailable when oneDNN does not do these sizes.
  OneDnnDeconvolution(const ConvTranspose3d& sizes, bool biased);

  /// Where the result is as [n, channels / block, d, h, w, block], and what run() needs.
  enum class Layout {
    plain,    ///< NCDHW: run() writes `to` itself
    blocked,  ///< in result(); channels are padded to whole blocks
    unknown   ///< in result(), for copy_result() only
  };
  [[nodiscard]] Layout layout() const noexcept { return layout_; }
  [[nodiscard]] std::int64_t block() const noexcept { return block_; }
  [[nodiscard]] const float* result() const;

  /// Reorders x and w and convolves. bias is read if `biased`, `to` [n, co, output...] written if the layout
  /// is plain. Returns when all is done.
  void run(const float* x, const float* w, const float* bias, float* to);
  /// From result() to NCDHW.
  void copy_result(float* to);

  /// "oneDNN 2.6.3 jit:..., y as nCdhw16c"
  [[nodiscard]] std::string description() const;

 private:
  // A tensor as the caller has it and as the primitive wants it; the same memory where these are alike.
  struct Reordered {
    dnnl::memory ours;
    dnnl::memory theirs;
    dnnl::reorder reorder;
  };
  [[nodiscard]] Reordered reordered(const dnnl::memory::desc& ours,
                                    const dnnl::memory::desc& theirs);
  void take(Reordered& tensor, const float* from);
  void find_layout(const dnnl::memory::dims& dims);

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::deconvolution_forward deconvolution_;
  Reordered x_, w_;
  dnnl::memory bias_, result_, y_;
  dnnl::reorder copy_result_;
  Layout layout_ = Layout::unknown;
  std::int64_t block_ = 0;
  std::string implementation_, layout_name_;
};

/// Lets OpenMP's threads, which oneDNN uses, have all cores even where the calling thread is tied to one
/// (--pin). Called before the first primitive runs.
void spread_openmp_threads();

/// Calls body(begin, end) for pieces of [0, total), on OpenMP's threads: oneDNN's own, since those of another
/// pool would find them still watching for work on every core. `body` throws nothing.
template <typename Body>
void for_openmp_pieces(std::int64_t total, std::int64_t piece, const Body& body) {
  const std::int64_t pieces = (total + piece - 1) / piece;
#pragma omp parallel for schedule(static) if (pieces > 1)
  for (std::int64_t i = 0; i < pieces; ++i) {
    body(i * piece, (i + 1) * piece < total ? (i + 1) * piece : total);
  }
}

}  // namespace fusebench::conv_transpose3d_residual

#endif
