// y = c * (2c + (b + 1)): two operations an element instead of four, at another rounding.
#include <cmath>

#include "variants/residual_epilogue/cpu_variant.hpp"

// Without an FMA instruction std::fma is a call; compile the loop once more for processors with one.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FUSEBENCH_CLONES __attribute__((target_clones("default", "fma", "avx512f")))
#else
#define FUSEBENCH_CLONES
#endif

namespace fusebench::residual_epilogue {
namespace {

FUSEBENCH_CLONES void row(const float* c, float b, float* y, std::int64_t count) {
  const float bias = b + 1.0F;
  for (std::int64_t i = 0; i < count; ++i) y[i] = c[i] * std::fma(2.0F, c[i], bias);
}

void run(const Epilogue& e, const Configuration&) {
  for_row_pieces(e.sizes, 0, e.sizes.elements(),
                 [&](std::int64_t offset, std::int64_t count, std::int64_t channel) {
                   row(e.c + offset, e.b[channel], e.y + offset, count);
                 });
}

const bool registered = add_cpu_variant({
    .name = "cpu_algebraic_fma",
    .idea = "c * (2c + b + 1) with one FMA: what half the arithmetic is worth",
    .precision = Precision::float32,
    .run = run,
});

}  // namespace
}  // namespace fusebench::residual_epilogue
