// Mutants whose every call is wrong in the same way: cheap outputs, dropped terms, wrong sizes and
// channels, lowered precision, special values.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/mutants/cpu_mutant.hpp"

namespace fusebench::residual_epilogue {
namespace {

constexpr auto float32 = Precision::float32;
constexpr auto exact = Precision::exact_order;

// Keeps the top `bits` bits of the fraction, to nearest.
float rounded_to(float value, unsigned bits) {
  if (!std::isfinite(value) || value == 0.0F) return value;
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  const unsigned drop = 23U - bits;
  word += (1U << (drop - 1U)) - 1U + (word >> drop & 1U);
  word &= ~((1U << drop) - 1U);
  std::memcpy(&value, &word, sizeof word);
  return value;
}

float flushed(float value) {
  return std::abs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0F, value) : value;
}

template <unsigned bits>
void in_precision(const Epilogue& e, const Configuration&) {
  each(e, [](float c, float b) { return exact_order(rounded_to(c, bits), rounded_to(b, bits)); });
}

void in_fp16(const Epilogue& e, const Configuration&) {
  const auto half = [](float value) { return static_cast<float>(static_cast<_Float16>(value)); };
  each(e, [&](float c, float b) { return exact_order(half(c), half(b)); });
}

const bool cheap =
    add_mutant("nothing", must_be(1, "wrong", "never written"),
               [](const Epilogue&, const Configuration&) {}) &&
    add_mutant(
        "zeros", must_be(11, "wrong", "got 0"),
        [](const Epilogue& e, const Configuration&) { std::fill_n(e.y, e.sizes.elements(), 0.0F); },
        float32) &&
    add_mutant(
        "constant", must_be(11, "wrong", "got 0.5"),
        [](const Epilogue& e, const Configuration&) { std::fill_n(e.y, e.sizes.elements(), 0.5F); },
        float32) &&
    add_mutant(
        "nans", must_be(30, "wrong", "got nan"),
        [](const Epilogue& e, const Configuration&) {
          std::fill_n(e.y, e.sizes.elements(), std::numeric_limits<float>::quiet_NaN());
        },
        float32) &&
    add_mutant(
        "copies_input", must_be(11, "wrong", "elements wrong"),
        [](const Epilogue& e, const Configuration&) { std::copy_n(e.c, e.sizes.elements(), e.y); },
        float32) &&
    add_mutant(
        "shifted", must_be(11, "wrong", "elements wrong"),
        [](const Epilogue& e, const Configuration&) {
          right(e);
          std::rotate(e.y, e.y + 1, e.y + e.sizes.elements());
        },
        float32);

const bool dropped = add_mutant(
                         "negated", must_be(31, "wrong", "elements wrong"),
                         [](const Epilogue& e, const Configuration&) {
                           each(e, [](float c, float b) { return -exact_order(c, b); });
                         },
                         float32) &&
                     add_mutant(
                         "without_bias", must_be(11, "wrong", "elements wrong"),
                         [](const Epilogue& e, const Configuration&) {
                           each(e, [](float c, float) { return exact_order(c, 0.0F); });
                         },
                         float32) &&
                     add_mutant(
                         "without_residual", must_be(11, "wrong", "elements wrong"),
                         [](const Epilogue& e, const Configuration&) {
                           each(e, [](float c, float b) { return (c + b) * c + c; });
                         },
                         float32) &&
                     add_mutant(
                         "without_product", must_be(11, "wrong", "elements wrong"),
                         [](const Epilogue& e, const Configuration&) {
                           each(e, [](float c, float b) { return ((c + b) + c) + c; });
                         },
                         float32) &&
                     add_mutant(
                         "without_last_sum", must_be(11, "wrong", "elements wrong"),
                         [](const Epilogue& e, const Configuration&) {
                           each(e, [](float c, float b) { return ((c + b) + c) * c; });
                         },
                         float32);

const bool single = add_mutant(
                        "one_element_wrong", must_be(34, "wrong", "1 of "),
                        [](const Epilogue& e, const Configuration&) {
                          right(e);
                          float& last = e.y[e.sizes.elements() - 1];
                          last += std::abs(last) * 1e-3F + 1e-3F;
                        },
                        float32) &&
                    add_mutant(
                        "one_element_unwritten", must_be(1, "wrong", "1 never written"),
                        [](const Epilogue& e, const Configuration&) {
                          const float before = e.y[0];
                          right(e);
                          std::memcpy(e.y, &before, sizeof before);
                        },
                        float32) &&
                    add_mutant("one_bit_wrong", must_be(28, "wrong", "1 of "),
                               [](const Epilogue& e, const Configuration&) {
                                 right(e);
                                 float& middle = e.y[e.sizes.elements() / 2];
                                 middle =
                                     std::nextafter(middle, std::numeric_limits<float>::infinity());
                               });

const bool sizes =
    add_mutant("only_even_sizes", must_be(16, "wrong", "at n="),
               [](const Epilogue& e, const Configuration&) {
                 right(e);
                 if (e.sizes.elements() % 2 != 0) e.y[e.sizes.elements() - 1] = 0.0F;
               }) &&
    add_mutant("tail_off_by_one", must_be(16, "wrong", "never written"),
               [](const Epilogue& e, const Configuration&) {
                 Epilogue shorter = e;
                 shorter.sizes.spatial = e.sizes.spatial / 4 * 4;
                 for (std::int64_t row = 0; row < e.sizes.rows; ++row) {
                   for (std::int64_t i = 0; i < shorter.sizes.spatial; ++i) {
                     const std::int64_t at = row * e.sizes.spatial + i;
                     e.y[at] = exact_order(e.c[at], e.b[row % e.sizes.channels]);
                   }
                 }
               }) &&
    add_mutant("only_large_sizes", must_be(16, "wrong", "at n="),
               [](const Epilogue& e, const Configuration&) {
                 if (e.sizes.elements() > 500'000) right(e);
               }) &&
    add_mutant("index_of_16_bits", must_be(17, "wrong", "never written"),
               [](const Epilogue& e, const Configuration&) {
                 const auto count = static_cast<std::uint16_t>(e.sizes.elements());
                 Epilogue part = e;
                 for (std::uint16_t i = 0; i < count; ++i) {
                   const std::int64_t channel = i / e.sizes.spatial % e.sizes.channels;
                   part.y[i] = exact_order(e.c[i], e.b[channel]);
                 }
               }) &&
    add_mutant("last_channel_bias", must_be(11, "wrong", R"(\(n=)"),
               [](const Epilogue& e, const Configuration&) {
                 const float b = e.b[e.sizes.channels - 1];
                 for (std::int64_t i = 0; i < e.sizes.elements(); ++i) {
                   e.y[i] = exact_order(e.c[i], b);
                 }
               }) &&
    add_mutant(
        "next_channel_bias", must_be(11, "wrong", R"(\(n=)"),
        [](const Epilogue& e, const Configuration&) {
          for_row_pieces(e.sizes, 0, e.sizes.elements(),
                         [&](std::int64_t offset, std::int64_t count, std::int64_t channel) {
                           const float b = e.b[(channel + 1) % e.sizes.channels];
                           for (std::int64_t i = offset; i < offset + count; ++i) {
                             e.y[i] = exact_order(e.c[i], b);
                           }
                         });
        },
        float32);

const bool precision =
    add_mutant("fp16_inside", must_be(29, "wrong", "elements wrong"), in_fp16, float32) &&
    add_mutant("tf32_inside", must_be(29, "wrong", "elements wrong"), in_precision<10>, float32) &&
    add_mutant("bf16_inside", must_be(29, "wrong", "elements wrong"), in_precision<7>, float32) &&
    add_mutant(
        "flushes_subnormals", must_be(37, "wrong", "inputs: "),
        [](const Epilogue& e, const Configuration&) {
          each(e, [](float c, float b) { return flushed(exact_order(flushed(c), flushed(b))); });
        },
        float32) &&
    add_mutant(
        "fma", must_be(28, "wrong", "elements wrong"),
        [](const Epilogue& e, const Configuration&) {
          each(e, [](float c, float b) { return std::fma((c + b) + c, c, c); });
        },
        exact) &&
    add_mutant(
        "swallows_nan", must_be(30, "wrong", "inputs: "),
        [](const Epilogue& e, const Configuration&) {
          each(e, [](float c, float b) {
            const float y = exact_order(c, b);
            return std::isnan(y) ? 0.0F : y;
          });
        },
        float32) &&
    add_mutant(
        "saturates", must_be(30, "wrong", "inputs: "),
        [](const Epilogue& e, const Configuration&) {
          each(e, [](float c, float b) {
            const float most = std::numeric_limits<float>::max();
            return std::clamp(exact_order(c, b), -most, most);
          });
        },
        float32);

}  // namespace
}  // namespace fusebench::residual_epilogue
