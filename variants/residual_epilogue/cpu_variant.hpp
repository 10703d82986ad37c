// What a CPU variant of residual_epilogue writes down: its idea and a function. Everything else is here.
#pragma once

#include <algorithm>
#include <string>

#include "harness/core/parameters.hpp"
#include "harness/core/variant.hpp"
#include "reference/residual_epilogue.hpp"

namespace fusebench::residual_epilogue {

/// The tensors of one call and their extents; see Sizes.
struct Epilogue {
  const float* c;
  const float* b;
  float* y;
  Sizes sizes;
};

struct CpuVariant {
  std::string name;
  std::string idea;
  Precision precision = Precision::exact_order;
  void (*run)(const Epilogue& epilogue, const Configuration& configuration) = nullptr;
  ParameterSpace parameters = {};
  InPlace in_place = InPlace::no;  ///< may, or must, y be c's memory?
  bool baseline = false;
  std::string unavailable = {};  ///< why this build or machine cannot run it; empty when it can
};

/// Registers and returns true.
bool add_cpu_variant(CpuVariant variant, const char* file = __builtin_FILE());

/// Calls body(offset, count, channel) for each piece of a row within elements [begin, end).
template <typename Body>
void for_row_pieces(const Sizes& sizes, std::int64_t begin, std::int64_t end, Body&& body) {
  std::int64_t row = begin / sizes.spatial;
  for (std::int64_t offset = begin; offset < end; ++row) {
    const std::int64_t row_end = std::min(end, (row + 1) * sizes.spatial);
    body(offset, row_end - offset, row % sizes.channels);
    offset = row_end;
  }
}

}  // namespace fusebench::residual_epilogue
