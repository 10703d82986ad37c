// What to ask of cuDNN: a graph of convolutions and elementwise steps, written down without any of its
// headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fusebench {

enum class CudnnType { float32, bfloat16 };

/// Extents in the order [n, channels, spatial...], whatever the memory's layout: strides, in elements, say
/// that. Addresses must be multiples of 16 bytes.
struct CudnnTensor {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
  CudnnType type = CudnnType::float32;
};

/// NCHW or NCDHW: the last extent varies fastest.
[[nodiscard]] CudnnTensor channels_first(std::vector<std::int64_t> extents,
                                         CudnnType type = CudnnType::float32);
/// NHWC or NDHWC: channels vary fastest.
[[nodiscard]] CudnnTensor channels_last(std::vector<std::int64_t> extents,
                                        CudnnType type = CudnnType::float32);

/// One value for each spatial dimension. A cross-correlation, as everywhere in machine learning.
struct CudnnConvolution {
  std::vector<std::int64_t> padding_before;
  std::vector<std::int64_t> padding_after;
  std::vector<std::int64_t> stride;
  std::vector<std::int64_t> dilation;
};

/// Results that are not outputs live only inside the fused kernel, as float32.
class CudnnDescription {
 public:
  using Value = std::size_t;

  [[nodiscard]] Value input(std::string name, CudnnTensor tensor);
  /// The image [n, ci, ...] with the filter [co, ci / groups, ...].
  [[nodiscard]] Value convolve(Value image, Value filter, CudnnConvolution convolution);
  /// The transposed convolution: from a response [n, co, ...] with the filter [co, ci / groups, ...] to an
  /// image of the given extents [n, ci, ...], which the others leave open where the stride is above 1.
  [[nodiscard]] Value convolve_backward(Value response, Value filter, CudnnConvolution convolution,
                                        std::vector<std::int64_t> extents);
  /// Elementwise; extents of 1 are broadcast.
  [[nodiscard]] Value add(Value a, Value b);
  [[nodiscard]] Value multiply(Value a, Value b);
  /// Stores a result, once.
  void output(Value value, std::string name, CudnnTensor tensor);

  enum class Kind { input, convolve, convolve_backward, add, multiply };
  struct Node {
    Kind kind = Kind::input;
    Value a = 0;
    Value b = 0;
    CudnnConvolution convolution = {};
    std::vector<std::int64_t> extents = {};  ///< of convolve_backward's result
    bool stored = false;  ///< inputs and outputs: has a name and a place in memory
    std::string name = {};
    CudnnTensor tensor = {};
  };
  /// In an order in which each comes after what it needs; a Value is an index.
  [[nodiscard]] const std::vector<Node>& nodes() const noexcept { return nodes_; }

 private:
  Value push(Node node);
  std::vector<Node> nodes_;
};

}  // namespace fusebench
