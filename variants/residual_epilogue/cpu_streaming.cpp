// Stores that go past the caches: an ordinary store first reads the line it is about to overwrite,
// so three lines move where two would do.
#include "variants/residual_epilogue/cpu_rows.hpp"
#include "variants/residual_epilogue/cpu_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

void run(const Epilogue& e, const Configuration& configuration) {
  const std::int64_t unroll = configuration.integer("unroll");
  for_row_pieces(e.sizes, 0, e.sizes.elements(),
                 [&](std::int64_t offset, std::int64_t count, std::int64_t channel) {
                   row_stepwise_streaming(e.c + offset, e.b[channel], e.y + offset, count, unroll);
                 });
  stream_fence();
}

const bool registered = add_cpu_variant({
    .name = "cpu_streaming",
    .idea = "non-temporal stores: what not reading the output's old lines is worth",
    .precision = Precision::exact_order,
    .run = run,
    .parameters = ParameterSpace({{"unroll", integers({1, 2, 4}), "1"}}),
    .unavailable = rows_unavailable(),
});

}  // namespace
}  // namespace fusebench::residual_epilogue
