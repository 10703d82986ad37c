#include "harness/device/cuda/cudnn/cudnn_description.hpp"

#include <utility>

namespace fusebench {

CudnnTensor channels_first(std::vector<std::int64_t> extents, CudnnType type) {
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t stride = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= extents[i];
  }
  return {std::move(extents), std::move(strides), type};
}

CudnnTensor channels_last(std::vector<std::int64_t> extents, CudnnType type) {
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t stride = extents[1];
  for (std::size_t i = extents.size(); i-- > 2;) {
    strides[i] = stride;
    stride *= extents[i];
  }
  strides[1] = 1;
  strides[0] = stride;
  return {std::move(extents), std::move(strides), type};
}

CudnnDescription::Value CudnnDescription::push(Node node) {
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

CudnnDescription::Value CudnnDescription::input(std::string name, CudnnTensor tensor) {
  return push({.stored = true, .name = std::move(name), .tensor = std::move(tensor)});
}

CudnnDescription::Value CudnnDescription::convolve(Value image, Value filter,
                                                   CudnnConvolution convolution) {
  return push(
      {.kind = Kind::convolve, .a = image, .b = filter, .convolution = std::move(convolution)});
}

CudnnDescription::Value CudnnDescription::convolve_backward(Value response, Value filter,
                                                            CudnnConvolution convolution,
                                                            std::vector<std::int64_t> extents) {
  return push({.kind = Kind::convolve_backward,
               .a = response,
               .b = filter,
               .convolution = std::move(convolution),
               .extents = std::move(extents)});
}

CudnnDescription::Value CudnnDescription::add(Value a, Value b) {
  return push({.kind = Kind::add, .a = a, .b = b});
}

CudnnDescription::Value CudnnDescription::multiply(Value a, Value b) {
  return push({.kind = Kind::multiply, .a = a, .b = b});
}

void CudnnDescription::output(Value value, std::string name, CudnnTensor tensor) {
  Node& node = nodes_.at(value);
  node.stored = true;
  node.name = std::move(name);
  node.tensor = std::move(tensor);
}

}  // namespace fusebench
