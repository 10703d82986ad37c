// All four steps in one plain loop: what fusing alone is worth.
#include "variants/residual_epilogue/cpu_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

// The build compiles with -ffp-contract=off: each step is rounded, however the loop is vectorised.
void run(const Epilogue& e, const Configuration&) {
  for_row_pieces(e.sizes, 0, e.sizes.elements(),
                 [&](std::int64_t offset, std::int64_t count, std::int64_t channel) {
                   const float b = e.b[channel];
                   for (std::int64_t i = offset; i < offset + count; ++i) {
                     const float c = e.c[i];
                     e.y[i] = ((c + b) + c) * c + c;
                   }
                 });
}

const bool registered = add_cpu_variant({
    .name = "cpu_stepwise",
    .idea = "one plain loop, vectorised by the compiler: what fusing alone is worth",
    .precision = Precision::exact_order,
    .run = run,
});

}  // namespace
}  // namespace fusebench::residual_epilogue
