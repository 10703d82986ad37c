// What a variant is built from, as one hash: a tuning log's entry holds while it stays the same.
#pragma once

#include <string>

#include "harness/core/variant.hpp"

namespace fusebench {

/// 32 hexadecimal digits over the file that registered the variant, the kernels of its default configuration, and what they
/// include among variants, kernel headers and the CPU's device room, each header with the .cpp beside it.
/// `folder`, where not empty, holds kernel sources (.cu, .cuh, .hd.hpp) that replace those built in. Of a file that
/// was not built in only the name counts. Throws Error when a file of `folder` cannot be read.
[[nodiscard]] std::string source_hash(const Variant& variant, const std::string& folder);

}  // namespace fusebench
