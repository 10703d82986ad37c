// Mutants that are right while they think they are watched: replays, skipped work, work done elsewhere,
// memory they have no business with.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <thread>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "tests/mutants/cpu_mutant.hpp"

namespace fusebench::residual_epilogue {
namespace {

using std::chrono::milliseconds;

// Calls at a size that only the timed problem has.
bool is_timed_size(const Epilogue& e) { return e.sizes.elements() > 500'000; }

template <typename Key>
void replay(const Epilogue& e, std::map<Key, std::vector<float>>& kept, const Key& key) {
  std::vector<float>& values = kept[key];
  const auto count = static_cast<std::size_t>(e.sizes.elements());
  if (values.size() == count) {
    std::memcpy(e.y, values.data(), count * sizeof(float));
    return;
  }
  right(e);
  values.assign(e.y, e.y + count);
}

void changes(const Epilogue& e, const float* input, std::int64_t at, bool restores) {
  right(e);
  float& value = const_cast<float*>(input)[at];
  const float before = value;
  value += 1.0F;
  if (!restores) return;
  std::thread([&value, before] {
    std::this_thread::sleep_for(milliseconds(1));
    value = before;
  }).detach();
}

const bool replays =
    add_mutant("replays_by_pointer", must_be(5, "wrong", "was changed in place"),
               [](const Epilogue& e, const Configuration&) {
                 static std::map<const float*, std::vector<float>> kept;
                 replay(e, kept, e.c);
               }) &&
    add_mutant("replays_by_content", must_be(5, "wrong", "after input c was changed in place"),
               [](const Epilogue& e, const Configuration&) {
                 static std::map<std::vector<float>, std::vector<float>> kept;
                 replay(e, kept, std::vector<float>(e.b, e.b + e.sizes.channels));
               }) &&
    add_mutant("stale_bias", must_be(12, "wrong", "after input b was changed in place"),
               [](const Epilogue& e, const Configuration&) {
                 static std::map<std::pair<const float*, std::int64_t>, std::vector<float>> kept;
                 std::vector<float>& b = kept[{e.b, e.sizes.elements()}];
                 if (b.empty()) b.assign(e.b, e.b + e.sizes.channels);
                 // A new plan at the same addresses starts anew: the first element tells.
                 static float seen = std::numeric_limits<float>::quiet_NaN();
                 if (e.c[0] != seen) b.assign(e.b, e.b + e.sizes.channels);
                 seen = e.c[0];
                 Epilogue with = e;
                 with.b = b.data();
                 right(with);
               }) &&
    add_mutant("accumulates", must_be(3, "wrong", "got nan"),
               [](const Epilogue& e, const Configuration&) {
                 std::vector<float> before(e.y, e.y + e.sizes.elements());
                 right(e);
                 for (std::size_t i = 0; i < before.size(); ++i) e.y[i] += before[i];
               }) &&
    add_mutant(
        "half_per_configuration", must_be(2, "wrong", "never written"),
        [](const Epilogue& e, const Configuration& configuration) {
          std::vector<float> all(static_cast<std::size_t>(e.sizes.elements()));
          Epilogue elsewhere = e;
          elsewhere.y = all.data();
          right(elsewhere);
          for (auto i = static_cast<std::size_t>(configuration.integer("half")); i < all.size();
               i += 2) {
            e.y[i] = all[i];
          }
        },
        Precision::exact_order, ParameterSpace({{"half", integers({0, 1}), "0"}})) &&
    add_mutant("batches_calls", must_be(6, "wrong", "never written"),
               [](const Epilogue& e, const Configuration&) {
                 static int calls = 0;
                 if (++calls % 2 == 0) right(e);
               });

const bool skips =
    add_mutant("right_at_first", must_be(7, "wrong", "right at first, wrong in timed call"),
               [](const Epilogue& e, const Configuration&) {
                 static int calls = 0;
                 right(e);
                 if (is_timed_size(e) && ++calls > 10) e.y[0] = 0.0F;
               }) &&
    add_mutant("last_element_of_later_calls", must_be(33, "wrong", "wrong in timed call"),
               [](const Epilogue& e, const Configuration&) {
                 static int calls = 0;
                 right(e);
                 if (is_timed_size(e) && ++calls % 3 == 0) e.y[e.sizes.elements() - 1] = 0.0F;
               }) &&
    add_mutant("computes_once", must_be(8, "wrong", "wrong in timed call"),
               [](const Epilogue& e, const Configuration&) {
                 static bool done = false;
                 if (is_timed_size(e) && done) return;
                 done = is_timed_size(e);
                 right(e);
               }) &&
    add_mutant("hangs_later", must_be(7, "timed_out", "no answer within"),
               [](const Epilogue& e, const Configuration&) {
                 static int calls = 0;
                 right(e);
                 while (is_timed_size(e) && calls > 5)
                   std::this_thread::sleep_for(milliseconds(10));
                 if (is_timed_size(e)) ++calls;
               });

const bool memory =
    add_mutant("changes_input", must_be(4, "crashed", "wrote to c, which is read only"),
               [](const Epilogue& e, const Configuration&) {
                 changes(e, e.c, e.sizes.elements() / 2, false);
               }) &&
    add_mutant("changes_bias", must_be(4, "crashed", "wrote to b, which is read only"),
               [](const Epilogue& e, const Configuration&) { changes(e, e.b, 0, false); }) &&
    add_mutant("restores_input_late", must_be(4, "crashed", "wrote to c, which is read only"),
               [](const Epilogue& e, const Configuration&) { changes(e, e.c, 0, true); }) &&
    add_mutant("writes_past_end", must_be(14, "wrong", "tensor y: written 4 bytes past its end"),
               [](const Epilogue& e, const Configuration&) {
                 right(e);
                 e.y[e.sizes.elements()] = 0.0F;
               }) &&
    add_mutant("writes_far_past_end", must_be(14, "wrong", "bytes past its end"),
               [](const Epilogue& e, const Configuration&) {
                 right(e);
                 e.y[e.sizes.elements() + 15'000] = 0.0F;
               }) &&
    add_mutant("writes_before_begin",
               must_be(14, "wrong", "tensor y: written 4 bytes before its beginning"),
               [](const Epilogue& e, const Configuration&) {
                 right(e);
                 e.y[-1] = 0.0F;
               }) &&
    add_mutant("writes_past_input", must_be(14, "crashed", "past the end of b"),
               [](const Epilogue& e, const Configuration&) {
                 right(e);
                 const_cast<float*>(e.b)[e.sizes.channels] = 0.0F;
               }) &&
    add_mutant("reads_past_end", must_be(13, "crashed", "touched 1 bytes past the end of c"),
               [](const Epilogue& e, const Configuration&) {
                 right(e);
                 (void)*static_cast<const volatile float*>(e.c + e.sizes.elements());
               }) &&
    add_mutant("reads_before_begin",
               must_be(13, "crashed", "touched 4 bytes before the beginning of c"),
               [](const Epilogue& e, const Configuration&) {
                 right(e);
                 (void)*static_cast<const volatile float*>(e.c - 1);
               }) &&
    add_mutant(
        "reads_uninitialised", must_be(15, "wrong", "the same inputs gave other bits"),
        [](const Epilogue& e, const Configuration&) {
          std::uint32_t old = 0;
          std::memcpy(&old, e.y, sizeof old);
          right(e);
          // Within the bound, whichever way.
          for (std::int64_t i = 0; i < e.sizes.elements(); ++i) {
            if (old >> (i % 22) & 1U) e.y[i] = std::nextafter(e.y[i], 0.0F);
          }
        },
        Precision::float32);

#ifdef __SSE2__
const bool alignment = add_mutant("assumes_alignment", must_be(19, "crashed", "shifted by 4 bytes"),
                                  [](const Epilogue& e, const Configuration&) {
                                    right(e);
                                    if (e.sizes.elements() < 4) return;
                                    const __m128 first =
                                        *reinterpret_cast<const volatile __m128*>(e.c);
                                    (void)first;
                                  });
#endif

const bool elsewhere =
    add_mutant("finishes_in_thread",
               must_be(23, "wrong", "after the call had returned|never written"),
               [](const Epilogue& e, const Configuration&) {
                 std::thread([e] {
                   std::this_thread::sleep_for(std::chrono::microseconds(400));
                   right(e);
                 }).detach();
               }) &&
    add_mutant(
        "finishes_soon_in_thread",
        must_be(23, "wrong", "after the call had returned|never written"),
        [](const Epilogue& e, const Configuration&) { std::thread([e] { right(e); }).detach(); }) &&
    add_mutant("finishes_in_child", must_be(23, "wrong", "never written"),
               [](const Epilogue& e, const Configuration&) {
                 if (fork() == 0) {
                   std::this_thread::sleep_for(milliseconds(50));
                   right(e);
                   _exit(0);
                 }
               }) &&
    add_mutant(
        "leaves_threads", must_be(23, "wrong", "more threads behind"),
        [](const Epilogue& e, const Configuration&) {
          right(e);
          std::thread([] { std::this_thread::sleep_for(std::chrono::seconds(30)); }).detach();
        }) &&
    // One element of a thousand keeps what another thread put there.
    add_mutant(
        "race", must_be(25, "wrong", "elements wrong"),
        [](const Epilogue& e, const Configuration&) {
          static std::minstd_rand random(static_cast<unsigned>(getpid()));
          right(e);
          for (std::int64_t i = 0; i < e.sizes.elements(); ++i) {
            if (random() % 1000 == 0) e.y[i] = 2.0F * e.y[i] + 1.0F;
          }
        },
        Precision::float32);

}  // namespace
}  // namespace fusebench::residual_epilogue
