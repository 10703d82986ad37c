// Variants that must be caught, each wrong in one way. They are built into fusebench_mutants only; the
// session's tests say what outcome and reason each must get.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <thread>

#include "variants/residual_epilogue/cpu_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

void right(const Epilogue& e, const Configuration&) {
  for_row_pieces(e.sizes, 0, e.sizes.elements(),
                 [&](std::int64_t offset, std::int64_t count, std::int64_t channel) {
                   for (std::int64_t i = offset; i < offset + count; ++i) {
                     e.y[i] = exact_order(e.c[i], e.b[channel]);
                   }
                 });
}

void segfault(const Epilogue&, const Configuration&) { (void)std::raise(SIGSEGV); }
void aborts(const Epilogue&, const Configuration&) { std::abort(); }
void exits(const Epilogue&, const Configuration&) { _exit(0); }
void throws(const Epilogue&, const Configuration&) {
  throw std::runtime_error("thrown by a mutant");
}
void endless(const Epilogue&, const Configuration&) {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}
void throws_int(const Epilogue&, const Configuration&) { throw 42; }
// Looks dead to a judge who waits for the socket to close, and lives on.
void closes_descriptors(const Epilogue& e, const Configuration& k) {
  for (int descriptor = 3; descriptor < 256; ++descriptor) (void)close(descriptor);
  endless(e, k);
}
// Speaks to the judge in the worker's place.
void forges_answer(const Epilogue&, const Configuration&) {
  constexpr char forged[] = "{\"phase\": 5}\n";
  for (int descriptor = 3; descriptor < 256; ++descriptor) {
    (void)send(descriptor, forged, sizeof forged - 1, MSG_NOSIGNAL);
  }
}
void nothing(const Epilogue&, const Configuration&) {}
void prints(const Epilogue& e, const Configuration& k) {
  std::puts("a candidate prints to standard output");
  (void)std::fflush(stdout);
  right(e, k);
}

void one_element_wrong(const Epilogue& e, const Configuration& k) {
  right(e, k);
  e.y[e.sizes.elements() - 1] += 1e-3F;
}
void one_element_unwritten(const Epilogue& e, const Configuration& k) {
  float* const y = e.y;
  const float before = y[0];
  right(e, k);
  std::memcpy(y, &before, sizeof before);
}
void one_bit_wrong(const Epilogue& e, const Configuration& k) {
  right(e, k);
  float& middle = e.y[e.sizes.elements() / 2];
  middle = std::nextafter(middle, std::numeric_limits<float>::infinity());
}
void zeros(const Epilogue& e, const Configuration&) {
  std::memset(e.y, 0, static_cast<std::size_t>(e.sizes.elements()) * sizeof(float));
}
void nans(const Epilogue& e, const Configuration&) {
  std::fill_n(e.y, e.sizes.elements(), std::numeric_limits<float>::quiet_NaN());
}
void writes_past_end(const Epilogue& e, const Configuration& k) {
  right(e, k);
  e.y[e.sizes.elements()] = 0.0F;
}
void writes_before_begin(const Epilogue& e, const Configuration& k) {
  right(e, k);
  e.y[-1] = 0.0F;
}
void writes_past_input(const Epilogue& e, const Configuration& k) {
  right(e, k);
  const_cast<float*>(e.b)[e.sizes.channels] = 0.0F;
}
void changes_input(const Epilogue& e, const Configuration& k) {
  right(e, k);
  const_cast<float*>(e.c)[e.sizes.elements() / 2] += 1.0F;
}
void last_channel_bias(const Epilogue& e, const Configuration&) {
  for (std::int64_t i = 0; i < e.sizes.elements(); ++i)
    e.y[i] = exact_order(e.c[i], e.b[e.sizes.channels - 1]);
}
void only_even_sizes(const Epilogue& e, const Configuration& k) {
  right(e, k);
  if (e.sizes.elements() % 2 != 0) e.y[e.sizes.elements() - 1] = 0.0F;
}
void right_at_first(const Epilogue& e, const Configuration& k) {
  static int calls = 0;
  right(e, k);
  // Past the odd sizes and the one check of the timed size: a harness that only looks once is fooled.
  if (++calls > 12) e.y[0] = 0.0F;
}

struct Mutant {
  const char* name;
  void (*run)(const Epilogue&, const Configuration&);
  Precision precision;
};

const bool registered = [] {
  constexpr auto exact = Precision::exact_order;
  for (const Mutant& mutant : {
           Mutant{"cpu_mutant_segfault", segfault, exact},
           Mutant{"cpu_mutant_aborts", aborts, exact},
           Mutant{"cpu_mutant_exits", exits, exact},
           Mutant{"cpu_mutant_throws", throws, exact},
           Mutant{"cpu_mutant_throws_int", throws_int, exact},
           Mutant{"cpu_mutant_closes_descriptors", closes_descriptors, exact},
           Mutant{"cpu_mutant_forges_answer", forges_answer, exact},
           Mutant{"cpu_mutant_endless", endless, exact},
           Mutant{"cpu_mutant_nothing", nothing, exact},
           Mutant{"cpu_mutant_prints", prints, exact},
           Mutant{"cpu_mutant_one_element_wrong", one_element_wrong, Precision::float32},
           Mutant{"cpu_mutant_one_element_unwritten", one_element_unwritten, Precision::float32},
           Mutant{"cpu_mutant_one_bit_wrong", one_bit_wrong, exact},
           Mutant{"cpu_mutant_zeros", zeros, Precision::float32},
           Mutant{"cpu_mutant_nans", nans, Precision::float32},
           Mutant{"cpu_mutant_writes_past_end", writes_past_end, exact},
           Mutant{"cpu_mutant_writes_before_begin", writes_before_begin, exact},
           Mutant{"cpu_mutant_writes_past_input", writes_past_input, exact},
           Mutant{"cpu_mutant_changes_input", changes_input, exact},
           Mutant{"cpu_mutant_last_channel_bias", last_channel_bias, Precision::float32},
           Mutant{"cpu_mutant_only_even_sizes", only_even_sizes, exact},
           Mutant{"cpu_mutant_right_at_first", right_at_first, exact},
       }) {
    add_cpu_variant({.name = mutant.name,
                     .idea = "must be caught",
                     .precision = mutant.precision,
                     .run = mutant.run});
  }
  return true;
}();

}  // namespace
}  // namespace fusebench::residual_epilogue
