// The baseline: what eager PyTorch does on a CPU, five passes with a new tensor for each result.
#include <cstring>
#include <memory>

#include "variants/residual_epilogue/cpu_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

using Tensor = std::unique_ptr<float[]>;

Tensor new_tensor(std::int64_t elements) {
  return std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(elements));
}

void add_bias(const float* x, const Epilogue& e, float* out) {
  for_row_pieces(e.sizes, 0, e.sizes.elements(),
                 [&](std::int64_t offset, std::int64_t count, std::int64_t channel) {
                   const float b = e.b[channel];
                   for (std::int64_t i = offset; i < offset + count; ++i) out[i] = x[i] + b;
                 });
}

void add(const float* x, const float* z, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = x[i] + z[i];
}

void multiply(const float* x, const float* z, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = x[i] * z[i];
}

// A tensor is freed as soon as its last reader is done, as Python's reference counts would.
void run(const Epilogue& e, const Configuration&) {
  const std::int64_t n = e.sizes.elements();
  const Tensor original = new_tensor(n);
  std::memcpy(original.get(), e.c, static_cast<std::size_t>(n) * sizeof(float));
  Tensor biased = new_tensor(n);
  add_bias(e.c, e, biased.get());
  Tensor doubled = new_tensor(n);
  add(biased.get(), original.get(), doubled.get(), n);
  biased.reset();
  const Tensor scaled = new_tensor(n);
  multiply(doubled.get(), original.get(), scaled.get(), n);
  doubled.reset();
  add(scaled.get(), original.get(), e.y, n);
}

const bool registered = add_cpu_variant({
    .name = "cpu_unfused",
    .idea = "clone and four passes, each to a new tensor, as eager PyTorch: the baseline",
    .precision = Precision::exact_order,
    .run = run,
    .baseline = true,
});

}  // namespace
}  // namespace fusebench::residual_epilogue
