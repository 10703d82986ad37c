#include "variants/conv_transpose3d_residual/onednn_deconvolution.hpp"

#if FUSEBENCH_HAVE_ONEDNN

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>

#include <utility>
#include <vector>

#include "harness/core/error.hpp"
#include "harness/device/cpu/thread_pool.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

using dnnl::memory;
using Description = dnnl::deconvolution_forward::primitive_desc;

// Before any thread is tied to a core.
const std::vector<int> cores_at_start = usable_cores();

memory::desc floats(const memory::dims& dims, memory::format_tag tag) {
  return {dims, memory::data_type::f32, tag};
}

memory::dims dims_of(const PerDimension& values) { return {values.begin(), values.end()}; }

memory::dims with_extents(memory::dims dims, const PerDimension& extents) {
  dims.insert(dims.end(), extents.begin(), extents.end());
  return dims;
}

struct Arguments {
  memory::desc x, w, bias, y;  // bias of no dimensions where there is none
  memory::dims strides, dilations, before, after;
};

// oneDNN's padding behind is what makes the output's extent come out: output padding makes it less, and
// it may be below 0. Its dilation counts the gaps.
Arguments arguments_of(const ConvTranspose3d& s, bool biased, const memory::dims& x,
                       const memory::dims& w, const memory::dims& y) {
  Arguments a;
  a.x = floats(x, memory::format_tag::any);
  a.w = floats(w, memory::format_tag::any);
  a.y = floats(y, memory::format_tag::any);
  if (biased) a.bias = floats({s.out_channels}, memory::format_tag::x);
  a.strides = dims_of(s.stride);
  a.before = dims_of(s.padding);
  for (std::size_t i = 0; i < 3; ++i) {
    a.dilations.push_back(s.dilation[i] - 1);
    a.after.push_back(s.padding[i] - s.output_padding[i]);
  }
  return a;
}

Description describe(const Arguments& a, bool biased, const dnnl::engine& engine) {
  constexpr auto kind = dnnl::prop_kind::forward_inference;
  constexpr auto algorithm = dnnl::algorithm::deconvolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  if (biased) {
    return {engine, kind,      algorithm,   a.x,      a.w,    a.bias,
            a.y,    a.strides, a.dilations, a.before, a.after};
  }
  return {engine, kind, algorithm, a.x, a.w, a.y, a.strides, a.dilations, a.before, a.after};
#else
  using Desc = dnnl::deconvolution_forward::desc;
  const Desc desc =
      biased
          ? Desc(kind, algorithm, a.x, a.w, a.bias, a.y, a.strides, a.dilations, a.before, a.after)
          : Desc(kind, algorithm, a.x, a.w, a.y, a.strides, a.dilations, a.before, a.after);
  return {desc, engine};
#endif
}

}  // namespace

OneDnnDeconvolution::OneDnnDeconvolution(const ConvTranspose3d& s, bool biased) {
  spread_openmp_threads();
  const std::int64_t in = s.in_channels / s.groups;
  const std::int64_t out = s.out_channels / s.groups;
  const memory::dims x = with_extents({s.n, s.in_channels}, s.input);
  const memory::dims y = with_extents({s.n, s.out_channels}, s.output());
  // oneDNN counts output channels first, PyTorch stores input channels first: the strides say so.
  memory::dims w = with_extents({out, in}, s.kernel);
  memory::dims w_strides = {s.taps(), out * s.taps(), s.kernel[1] * s.kernel[2], s.kernel[2], 1};
  if (s.groups > 1) {
    w.insert(w.begin(), s.groups);
    w_strides.insert(w_strides.begin(), in * out * s.taps());
  }
  try {
    const Description chosen = describe(arguments_of(s, biased, x, w, y), biased, engine_);
    implementation_ = chosen.impl_info_str();
    deconvolution_ = dnnl::deconvolution_forward(chosen);
    const memory::desc plain_y = floats(y, memory::format_tag::ncdhw);
    x_ = reordered(floats(x, memory::format_tag::ncdhw), chosen.src_desc());
    w_ = reordered({w, memory::data_type::f32, w_strides}, chosen.weights_desc());
    if (biased) bias_ = memory(chosen.bias_desc(), engine_, nullptr);
    y_ = memory(plain_y, engine_, nullptr);
    result_ = y_;
    if (chosen.dst_desc() == plain_y) {
      layout_ = Layout::plain;
      layout_name_ = "ncdhw";
    } else {
      result_ = memory(chosen.dst_desc(), engine_);
      copy_result_ = dnnl::reorder(result_, y_);
      find_layout(y);
    }
  } catch (const dnnl::error& error) {
    throw Unavailable("oneDNN {}.{} has no deconvolution for these sizes: {}", DNNL_VERSION_MAJOR,
                      DNNL_VERSION_MINOR, error.what());
  }
}

void OneDnnDeconvolution::find_layout(const memory::dims& dims) {
  using Tag = memory::format_tag;
  const std::pair<Tag, std::pair<const char*, std::int64_t>> known[] = {
      {Tag::nCdhw16c, {"nCdhw16c", 16}},
      {Tag::nCdhw8c, {"nCdhw8c", 8}},
      {Tag::nCdhw4c, {"nCdhw4c", 4}},
      {Tag::ndhwc, {"ndhwc", dims[1]}}};
  layout_name_ = "a layout of its own";
  for (const auto& [tag, named] : known) {
    if (result_.get_desc() != floats(dims, tag)) continue;
    layout_ = Layout::blocked;
    layout_name_ = named.first;
    block_ = named.second;
    return;
  }
}

OneDnnDeconvolution::Reordered OneDnnDeconvolution::reordered(const memory::desc& ours,
                                                              const memory::desc& theirs) {
  Reordered tensor;
  tensor.ours = memory(ours, engine_, nullptr);
  tensor.theirs = tensor.ours;
  if (ours != theirs) {
    tensor.theirs = memory(theirs, engine_);
    tensor.reorder = dnnl::reorder(tensor.ours, tensor.theirs);
  }
  return tensor;
}

// oneDNN takes no const pointer, and writes to no source.
void OneDnnDeconvolution::take(Reordered& tensor, const float* from) {
  tensor.ours.set_data_handle(const_cast<float*>(from));
  if (tensor.reorder) tensor.reorder.execute(stream_, tensor.ours, tensor.theirs);
}

void OneDnnDeconvolution::run(const float* x, const float* w, const float* bias, float* to) {
  shared_pool().rest();
  take(x_, x);
  take(w_, w);
  if (layout_ == Layout::plain) result_.set_data_handle(to);
  std::unordered_map<int, memory> arguments = {
      {DNNL_ARG_SRC, x_.theirs}, {DNNL_ARG_WEIGHTS, w_.theirs}, {DNNL_ARG_DST, result_}};
  if (bias_) {
    bias_.set_data_handle(const_cast<float*>(bias));
    arguments.emplace(DNNL_ARG_BIAS, bias_);
  }
  deconvolution_.execute(stream_, arguments);
  stream_.wait();
}

void OneDnnDeconvolution::copy_result(float* to) {
  y_.set_data_handle(to);
  copy_result_.execute(stream_, result_, y_);
  stream_.wait();
}

const float* OneDnnDeconvolution::result() const {
  return static_cast<const float*>(result_.get_data_handle());
}

std::string OneDnnDeconvolution::description() const {
  const dnnl_version_t* const version = dnnl_version();
  return fmt::format("oneDNN {}.{}.{} {}, y as {}, {} threads", version->major, version->minor,
                     version->patch, implementation_, layout_name_, omp_get_max_threads());
}

void spread_openmp_threads() {
  if (cores_at_start.size() < 2 || usable_cores().size() > 1) return;
#pragma omp parallel
  if (const auto thread = static_cast<std::size_t>(omp_get_thread_num()); thread > 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cores_at_start[thread % cores_at_start.size()]), &set);
    (void)sched_setaffinity(0, sizeof set, &set);  // refused in some containers
  }
}

}  // namespace fusebench::conv_transpose3d_residual

#endif
