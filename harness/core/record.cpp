#include "harness/core/record.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "harness/core/record_fields.hpp"

namespace fusebench {
namespace {

using nlohmann::json;

// JSON has no infinity or NaN (nlohmann would write null), so those travel as words.
json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : (value > 0 ? "inf" : "-inf");
}

double number(const json& value) {
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}

template <typename T>
json encode(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return to_string(value);
  } else if constexpr (std::is_same_v<T, std::optional<double>>) {
    return value ? number(*value) : json(nullptr);
  } else if constexpr (std::is_same_v<T, std::optional<bool>>) {
    return value ? json(*value) : json(nullptr);
  } else {
    return value;
  }
}

void decode(const json& from, Outcome& to) { to = parse_outcome(from.get<std::string>()); }
void decode(const json& from, Precision& to) { to = parse_precision(from.get<std::string>()); }
void decode(const json& from, DeviceKind& to) { to = parse_device_kind(from.get<std::string>()); }
void decode(const json& from, std::optional<double>& to) {
  to = from.is_null() ? std::nullopt : std::optional(number(from));
}
void decode(const json& from, std::optional<bool>& to) {
  to = from.is_null() ? std::nullopt : std::optional(from.get<bool>());
}
template <typename T>
void decode(const json& from, T& to) {
  to = from.get<T>();
}

}  // namespace

std::string series_key(const Record& record) {
  return record.operator_name + " " + record.variant + " " + record.configuration + " " +
         record.problem + " " + std::string(to_string(record.device));
}

void to_json(json& out, const Record& record) {
  out = json::object();
  visit_fields(record, [&](const char* name, const auto& field) { out[name] = encode(field); });
}

void from_json(const json& in, Record& record) {
  visit_fields(record, [&](const char* name, auto& field) { decode(in.at(name), field); });
}

void to_json(json& out, const Sample& sample) {
  out = json::array({sample.ns, sample.sm_clock_mhz, sample.throttled});
}

void from_json(const json& in, Sample& sample) {
  sample = {in.at(0).get<double>(), in.at(1).get<double>(), in.at(2).get<bool>()};
}

}  // namespace fusebench
