// All cores: each takes chunk after chunk, a fixed stride apart, with vectors and a choice of stores.
#include "harness/device/cpu/thread_pool.hpp"
#include "variants/residual_epilogue/cpu_rows.hpp"
#include "variants/residual_epilogue/cpu_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

void run(const Epilogue& e, const Configuration& configuration) {
  const std::int64_t chunk = configuration.integer("chunk");
  const bool streaming = configuration.text("store") == "streaming";
  const std::int64_t elements = e.sizes.elements();
  const std::int64_t chunks = (elements + chunk - 1) / chunk;
  ThreadPool& pool = shared_pool();
  const std::int64_t unroll = configuration.integer("unroll");
  const std::int64_t wanted =
      configuration.text("threads") == "all"
          ? pool.size()
          : std::min<std::int64_t>(pool.size(), configuration.integer("threads"));
  const int threads = static_cast<int>(std::min(wanted, chunks));
  const bool blocked = configuration.text("order") == "blocked";
  pool.run(threads, [&](int thread) {
    const std::int64_t first = blocked ? chunks * thread / threads : thread;
    const std::int64_t last = blocked ? chunks * (thread + 1) / threads : chunks;
    for (std::int64_t k = first; k < last; k += blocked ? 1 : threads) {
      for_row_pieces(e.sizes, k * chunk, std::min(elements, (k + 1) * chunk),
                     [&](std::int64_t offset, std::int64_t count, std::int64_t channel) {
                       const auto row = streaming ? row_stepwise_streaming : row_stepwise;
                       row(e.c + offset, e.b[channel], e.y + offset, count, unroll);
                     });
    }
    stream_fence();
  });
}

const bool registered = add_cpu_variant({
    .name = "cpu_threads",
    .idea = "all cores, persistent chunks: what the whole memory system gives",
    .precision = Precision::exact_order,
    .run = run,
    .parameters =
        ParameterSpace({{"chunk", integers({1024, 4096, 16384, 65536, 262144}), "65536"},
                        {"order", {"blocked", "interleaved"}, "blocked"},
                        {"store", {"streaming", "cached"}, "streaming"},
                        {"unroll", integers({1, 2, 4}), "1"},
                        {"threads", {"1", "2", "4", "8", "16", "32", "64", "128", "all"}, "all"}},
                       {"threads == 'all' or threads < processors"}),
    .unavailable = rows_unavailable(),
});

}  // namespace
}  // namespace fusebench::residual_epilogue
