// What goes wrong where the output overwrites the first input, and honest variants beside it: variants that
// are in place only, unless they say otherwise.
#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "harness/core/error.hpp"
#include "tests/mutants/cpu_mutant.hpp"

namespace fusebench::residual_epilogue {
namespace {

constexpr auto exact = Precision::exact_order;

// Whole vectors, the last of which ends where the tensor ends: with an output of its own the elements that it
// shares with the one before are computed twice and are right; in place they are read after they were
// overwritten.
void overlapping_tail(const Epilogue& e, const Configuration&) {
  constexpr std::int64_t lanes = 4;
  const std::int64_t count = e.sizes.elements();
  if (count < lanes) return right(e);
  for (std::int64_t i = 0; i < count; i += lanes) {
    const std::int64_t first = std::min(i, count - lanes);
    for (std::int64_t k = first; k < first + lanes; ++k) {
      e.y[k] = exact_order(e.c[k], e.b[k / e.sizes.spatial % e.sizes.channels]);
    }
  }
}

// Four passes without the clone: the residual is no longer there when it is added.
void residual_overwritten(const Epilogue& e, const Configuration&) {
  each(e, [](float c, float b) { return c + b; });
  each(e, [](float c, float) { return c + c; });
  each(e, [](float c, float) { return c * c; });
  each(e, [](float c, float) { return c + c; });
}

void elsewhere(const Epilogue& e, const Configuration&) {
  std::vector<float> memory(static_cast<std::size_t>(e.sizes.elements()));
  Epilogue there = e;
  there.y = memory.data();
  right(there);
}

void replays(const Epilogue& e, const Configuration&) {
  static std::map<std::vector<float>, std::vector<float>> kept;
  const auto elements = static_cast<std::size_t>(e.sizes.elements());
  std::vector<float>& values = kept[std::vector<float>(e.b, e.b + e.sizes.channels)];
  if (values.size() != elements) {
    right(e);
    values.assign(e.y, e.y + elements);
  }
  std::memcpy(e.y, values.data(), elements * sizeof(float));
}

bool add(const std::string& name, const std::string& idea, Run run,
         InPlace in_place = InPlace::only) {
  return add_mutant("in_place_" + name, idea, run, exact, {}, in_place);
}

const bool mutants =
    add("overlapping_tail", must_be(16, "wrong", ", in place: .*elements wrong"),
        overlapping_tail) &&
    add("also_overlapping_tail", must_be(16, "wrong", ", in place: .*elements wrong"),
        overlapping_tail, InPlace::also) &&
    add("residual_overwritten", must_be(11, "wrong", "elements wrong"), residual_overwritten) &&
    add("writes_elsewhere", must_be(1, "wrong", "elements wrong"), elsewhere) &&
    add("nothing", must_be(1, "wrong", "elements wrong"),
        [](const Epilogue&, const Configuration&) {}) &&
    add("replays", must_be(5, "wrong", "after input c was changed in place"), replays) &&
    add("right_at_first", must_be(7, "wrong", "right at first, wrong in timed call"),
        [](const Epilogue& e, const Configuration&) {
          static int calls = 0;
          constexpr std::int64_t most_verified = 500'000;  // elements of the battery's largest case
          if (e.sizes.elements() < most_verified || ++calls <= 2) right(e);
        }) &&
    add("changes_bias", must_be(4, "crashed", "wrote to b, which is read only"),
        [](const Epilogue& e, const Configuration&) {
          right(e);
          const_cast<float*>(e.b)[0] += 1.0F;
        }) &&
    add("writes_past_end", must_be(14, "wrong", "written 4 bytes past its end"),
        [](const Epilogue& e, const Configuration&) {
          right(e);
          e.y[e.sizes.elements()] = 0.0F;
        });

// Refuses to be called in another way: that no call of an in-place variant ever is.
void only_in_place(const Epilogue& e, const Configuration&) {
  if (e.y != e.c) throw Error("it was handed an output of its own");
  right(e);
}

const bool honest =
    add_honest("in_place_only", "refuses an output of its own", only_in_place, exact,
               InPlace::only) &&
    add_honest("overlapping_tail", "computes the last elements twice, into an output of its own",
               overlapping_tail);

}  // namespace
}  // namespace fusebench::residual_epilogue
