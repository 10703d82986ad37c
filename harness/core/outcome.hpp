// How one variant fared: a closed set of outcomes and a closed set of precision contracts.
#pragma once

#include <string>
#include <string_view>

namespace fusebench {

enum class Outcome { passed, wrong, failed, crashed, timed_out, unavailable };

/// A variant's numerical contract. exact_order is bit-equal to the reference order; the others have
/// forward error bounds that the operator states (Operator::bound).
enum class Precision { exact_order, float32, bf16x3, tf32, fp16, bf16 };

enum class DeviceKind { cpu, cuda };

[[nodiscard]] std::string_view to_string(Outcome outcome) noexcept;
[[nodiscard]] std::string_view to_string(Precision precision) noexcept;
[[nodiscard]] std::string_view to_string(DeviceKind kind) noexcept;

/// The inverse of to_string. Throws Error naming the text when it is none of them.
[[nodiscard]] Outcome parse_outcome(std::string_view text);
[[nodiscard]] Precision parse_precision(std::string_view text);
[[nodiscard]] DeviceKind parse_device_kind(std::string_view text);

}  // namespace fusebench
