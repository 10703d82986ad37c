#include "harness/core/outcome.hpp"

#include <array>
#include <utility>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

template <typename Enum, std::size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

constexpr Names<Outcome, 6> outcomes = {{{Outcome::passed, "passed"},
                                         {Outcome::wrong, "wrong"},
                                         {Outcome::failed, "failed"},
                                         {Outcome::crashed, "crashed"},
                                         {Outcome::timed_out, "timed_out"},
                                         {Outcome::unavailable, "unavailable"}}};
constexpr Names<Precision, 6> precisions = {{{Precision::exact_order, "exact_order"},
                                             {Precision::float32, "float32"},
                                             {Precision::bf16x3, "bf16x3"},
                                             {Precision::tf32, "tf32"},
                                             {Precision::fp16, "fp16"},
                                             {Precision::bf16, "bf16"}}};
constexpr Names<DeviceKind, 2> device_kinds = {
    {{DeviceKind::cpu, "cpu"}, {DeviceKind::cuda, "cuda"}}};

template <typename Enum, std::size_t N>
std::string_view name_of(const Names<Enum, N>& names, Enum value) noexcept {
  for (const auto& [key, name] : names) {
    if (key == value) return name;
  }
  return "?";
}

template <typename Enum, std::size_t N>
Enum value_of(const Names<Enum, N>& names, std::string_view what, std::string_view text) {
  for (const auto& [key, name] : names) {
    if (name == text) return key;
  }
  throw Error("unknown {} '{}'", what, text);
}

}  // namespace

std::string_view to_string(Outcome outcome) noexcept { return name_of(outcomes, outcome); }
std::string_view to_string(Precision precision) noexcept { return name_of(precisions, precision); }
std::string_view to_string(DeviceKind kind) noexcept { return name_of(device_kinds, kind); }

Outcome parse_outcome(std::string_view text) { return value_of(outcomes, "outcome", text); }
Precision parse_precision(std::string_view text) { return value_of(precisions, "precision", text); }
DeviceKind parse_device_kind(std::string_view text) {
  return value_of(device_kinds, "device", text);
}

}  // namespace fusebench
