#include "variants/conv_transpose3d_residual/cudnn_graphs.hpp"

#include <utility>

namespace fusebench::conv_transpose3d_residual {
namespace {

using Extents = std::vector<std::int64_t>;
using Value = CudnnDescription::Value;

// [n, channels, spatial...].
Extents extents(std::int64_t n, std::int64_t channels, const PerDimension& spatial) {
  return {n, channels, spatial[0], spatial[1], spatial[2]};
}

Extents all(const PerDimension& values) { return {values[0], values[1], values[2]}; }

CudnnTensor tensor(Layout layout, Extents e) {
  return layout == Layout::channels_first ? channels_first(std::move(e))
                                          : channels_last(std::move(e));
}

// c = convolution + conv_bias, then ((c + b) + c) * c + c. Takes the biases as inputs.
Value epilogue(CudnnDescription& graph, Value convolution, bool biased, Extents bias) {
  Value c = convolution;
  if (biased) c = graph.add(c, graph.input("conv_bias", channels_last(bias)));
  const Value biased_once = graph.add(c, graph.input("b", channels_last(std::move(bias))));
  const Value doubled = graph.add(biased_once, c);
  return graph.add(graph.multiply(doubled, c), c);
}

CudnnDescription planes(const ConvTranspose3d& sizes, std::int64_t items,
                        std::int64_t in_channels) {
  const std::int64_t out_channels = padded_channels(sizes.out_channels, 4);
  const Extents output = {items, out_channels, 2 * sizes.input[1], 2 * sizes.input[2]};
  CudnnDescription graph;
  const Value x =
      graph.input("x", channels_last({items, in_channels, sizes.input[1], sizes.input[2]}));
  const Value w = graph.input("w", channels_last({in_channels, out_channels, 3, 3}));
  const Value c = graph.convolve_backward(x, w, {{1, 1}, {1, 1}, {2, 2}, {1, 1}}, output);
  graph.output(epilogue(graph, c, sizes.bias, {1, out_channels, 1, 1}), "y", channels_last(output));
  return graph;
}

}  // namespace

CudnnDescription transposed_convolution(const ConvTranspose3d& sizes, Layout layout) {
  const Extents output = extents(sizes.n, sizes.out_channels, sizes.output());
  CudnnDescription graph;
  const Value x =
      graph.input("x", tensor(layout, extents(sizes.n, sizes.in_channels, sizes.input)));
  const Value w = graph.input(
      "w",
      tensor(layout, extents(sizes.in_channels, sizes.out_channels / sizes.groups, sizes.kernel)));
  const Value c = graph.convolve_backward(
      x, w, {all(sizes.padding), all(sizes.padding), all(sizes.stride), all(sizes.dilation)},
      output);
  graph.output(c, "c", tensor(layout, output));
  return graph;
}

std::vector<CudnnDescription> fused_planes(const ConvTranspose3d& sizes) {
  const std::int64_t d = sizes.input[0];
  const std::int64_t ci = padded_channels(sizes.in_channels, 4);
  std::vector<CudnnDescription> graphs;
  graphs.push_back(planes(sizes, sizes.n * d, ci));
  if (d > 1) {
    graphs.push_back(planes(sizes, sizes.n * (d - 1), 2 * ci));
  }
  graphs.push_back(planes(sizes, sizes.n, ci));
  return graphs;
}

std::vector<CudnnDescription> fused_parities(const ConvTranspose3d& sizes, std::int64_t in_channels,
                                             CudnnType type) {
  const std::int64_t co = padded_channels(sizes.out_channels, 4);
  std::vector<CudnnDescription> graphs;
  for (int number = 0; number < 8; ++number) {
    const Parity parity(number);
    const auto [d, h, w] = parity.odd;
    CudnnDescription graph;
    const Value x =
        graph.input("x", channels_last(extents(sizes.n, in_channels, sizes.input), type));
    const Value filter =
        graph.input("w", channels_last({co, in_channels, 1 + d, 1 + h, 1 + w}, type));
    const Value c = graph.convolve(x, filter, {{0, 0, 0}, {d, h, w}, {1, 1, 1}, {1, 1, 1}});
    graph.output(epilogue(graph, c, sizes.bias, {1, co, 1, 1, 1}), "y",
                 channels_last(extents(sizes.n, co, sizes.input)));
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

}  // namespace fusebench::conv_transpose3d_residual
