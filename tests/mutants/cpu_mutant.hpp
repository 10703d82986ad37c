// What the deliberately wrong variants of residual_epilogue, and the honest but unusual ones, write down about
// themselves. They are built into fusebench_mutants only; tests/mutants_test.py reads what must become of each.
#pragma once

#include <cstdint>
#include <string>

#include "tests/mutants/statement.hpp"
#include "variants/residual_epilogue/cpu_variant.hpp"

namespace fusebench::residual_epilogue {

/// y as it should be.
inline void right(const Epilogue& e) {
  for_row_pieces(e.sizes, 0, e.sizes.elements(),
                 [&](std::int64_t offset, std::int64_t count, std::int64_t channel) {
                   for (std::int64_t i = offset; i < offset + count; ++i) {
                     e.y[i] = exact_order(e.c[i], e.b[channel]);
                   }
                 });
}

/// y[i] = formula(c, b) everywhere.
template <typename Formula>
void each(const Epilogue& e, const Formula& formula) {
  for_row_pieces(e.sizes, 0, e.sizes.elements(),
                 [&](std::int64_t offset, std::int64_t count, std::int64_t channel) {
                   for (std::int64_t i = offset; i < offset + count; ++i) {
                     e.y[i] = formula(e.c[i], e.b[channel]);
                   }
                 });
}

using Run = void (*)(const Epilogue&, const Configuration&);

/// Registers cpu_mutant_NAME.
inline bool add_mutant(const std::string& name, const std::string& idea, Run run,
                       Precision precision = Precision::exact_order, ParameterSpace parameters = {},
                       InPlace in_place = InPlace::no) {
  return add_cpu_variant({.name = "cpu_mutant_" + name,
                          .idea = idea,
                          .precision = precision,
                          .run = run,
                          .parameters = std::move(parameters),
                          .in_place = in_place});
}

/// Registers cpu_honest_NAME.
inline bool add_honest(const std::string& name, const std::string& idea, Run run,
                       Precision precision = Precision::exact_order,
                       InPlace in_place = InPlace::no) {
  return add_cpu_variant({.name = "cpu_honest_" + name,
                          .idea = honest(idea),
                          .precision = precision,
                          .run = run,
                          .in_place = in_place});
}

}  // namespace fusebench::residual_epilogue
