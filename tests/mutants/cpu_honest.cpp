// Honest but unusual: none may ever be refused.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "tests/mutants/cpu_mutant.hpp"

namespace fusebench::residual_epilogue {
namespace {

constexpr auto float32 = Precision::float32;

void in_threads(const Epilogue& e, const Configuration&) {
  std::vector<std::thread> threads;
  constexpr std::int64_t parts = 3;
  for (std::int64_t part = 0; part < parts; ++part) {
    threads.emplace_back([&e, part] {
      const std::int64_t begin = e.sizes.elements() * part / parts;
      const std::int64_t end = e.sizes.elements() * (part + 1) / parts;
      for_row_pieces(e.sizes, begin, end,
                     [&](std::int64_t offset, std::int64_t count, std::int64_t channel) {
                       for (std::int64_t i = offset; i < offset + count; ++i) {
                         e.y[i] = exact_order(e.c[i], e.b[channel]);
                       }
                     });
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Remembers the last result by the whole of its inputs: that never helps where contents are new.
void remembers(const Epilogue& e, const Configuration&) {
  static std::vector<float> inputs;
  static std::vector<float> output;
  std::vector<float> now(e.c, e.c + e.sizes.elements());
  now.insert(now.end(), e.b, e.b + e.sizes.channels);
  const auto same = [](float a, float b) { return a == b && std::signbit(a) == std::signbit(b); };
  if (std::equal(now.begin(), now.end(), inputs.begin(), inputs.end(), same)) {
    std::copy(output.begin(), output.end(), e.y);
    return;
  }
  right(e);
  inputs = std::move(now);
  output.assign(e.y, e.y + e.sizes.elements());
}

const bool orders = add_honest(
                        "other_order", "adds in another order",
                        [](const Epilogue& e, const Configuration&) {
                          each(e, [](float c, float b) { return c + c * ((c + c) + b); });
                        },
                        float32) &&
                    add_honest(
                        "factored", "c (2c + (b + 1))",
                        [](const Epilogue& e, const Configuration&) {
                          each(e, [](float c, float b) { return c * (2.0F * c + (b + 1.0F)); });
                        },
                        float32) &&
                    add_honest(
                        "factored_fma", "c fma(2, c, b + 1)",
                        [](const Epilogue& e, const Configuration&) {
                          each(e, [](float c, float b) { return c * std::fma(2.0F, c, b + 1.0F); });
                        },
                        float32) &&
                    add_honest(
                        "last_step_fma", "fma((c + b) + c, c, c)",
                        [](const Epilogue& e, const Configuration&) {
                          each(e, [](float c, float b) { return std::fma((c + b) + c, c, c); });
                        },
                        float32) &&
                    add_honest(
                        "expanded", "2 c c + (b c + c)",
                        [](const Epilogue& e, const Configuration&) {
                          each(e, [](float c, float b) { return 2.0F * c * c + (b * c + c); });
                        },
                        float32) &&
                    add_honest(
                        "in_double", "float64 inside, rounded once",
                        [](const Epilogue& e, const Configuration&) {
                          each(e, [](float c, float b) {
                            return static_cast<float>(oracle_value(static_cast<double>(c), b));
                          });
                        },
                        float32);

const bool ways =
    add_honest("in_threads", "starts its own threads and joins them", in_threads) &&
    add_honest(
        "in_place", "writes where it reads",
        [](const Epilogue& e, const Configuration&) { right(e); }, Precision::exact_order,
        InPlace::also) &&
    add_honest("backwards", "from the last element to the first",
               [](const Epilogue& e, const Configuration&) {
                 for (std::int64_t i = e.sizes.elements(); i-- > 0;) {
                   e.y[i] = exact_order(e.c[i], e.b[i / e.sizes.spatial % e.sizes.channels]);
                 }
               }) &&
    add_honest("twice", "writes every element twice, rubbish first",
               [](const Epilogue& e, const Configuration&) {
                 std::fill_n(e.y, e.sizes.elements(), 7.0F);
                 right(e);
               }) &&
    add_honest("workspace", "allocates memory in every call",
               [](const Epilogue& e, const Configuration&) {
                 const auto elements = static_cast<std::size_t>(e.sizes.elements());
                 const auto memory = std::make_unique<float[]>(elements);
                 Epilogue elsewhere = e;
                 elsewhere.y = memory.get();
                 right(elsewhere);
                 std::copy_n(memory.get(), elements, e.y);
               }) &&
    add_honest("remembers", "keeps its last result, by all of its inputs", remembers);

}  // namespace
}  // namespace fusebench::residual_epilogue
