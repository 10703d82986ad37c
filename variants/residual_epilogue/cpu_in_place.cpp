// All cores, y over c: the line that a store writes is the one that was just read, so an ordinary store has
// none to fetch.
#include "harness/device/cpu/thread_pool.hpp"
#include "variants/residual_epilogue/cpu_rows.hpp"
#include "variants/residual_epilogue/cpu_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

void run(const Epilogue& e, const Configuration& configuration) {
  const bool streaming = configuration.text("store") == "streaming";
  const auto row = streaming ? row_stepwise_streaming : row_stepwise;
  const std::int64_t unroll = configuration.integer("unroll");
  const std::int64_t grain = configuration.integer("chunk");
  shared_pool().for_ranges(e.sizes.elements(), grain, [&](std::int64_t begin, std::int64_t end) {
    for_row_pieces(e.sizes, begin, end,
                   [&](std::int64_t offset, std::int64_t count, std::int64_t channel) {
                     row(e.y + offset, e.b[channel], e.y + offset, count, unroll);
                   });
    stream_fence();
  });
}

const bool registered = add_cpu_variant({
    .name = "cpu_in_place",
    .idea = "all cores, y over c: what an output of its own costs",
    .precision = Precision::exact_order,
    .run = run,
    .parameters = ParameterSpace({{"chunk", integers({1024, 4096, 16384, 65536}), "4096"},
                                  {"unroll", integers({1, 2, 4}), "1"},
                                  {"store", {"cached", "streaming"}, "cached"}}),
    .in_place = InPlace::only,
    .unavailable = rows_unavailable(),
});

}  // namespace
}  // namespace fusebench::residual_epilogue
