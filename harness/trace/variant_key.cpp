#include "harness/trace/variant_key.hpp"

namespace fusebench {
namespace {

void append_part(std::string& key, std::string_view part) {
  if (!key.empty()) key += ' ';
  for (const char c : part) {
    const bool has_a_meaning = c == '@' || c == '/' || c == ':';
    const bool is_blank = static_cast<unsigned char>(c) <= ' ' || c == '\x7F';
    key += has_a_meaning || is_blank ? '_' : c;
  }
}

}  // namespace

std::string variant_key(std::string_view operator_name, std::string_view variant,
                        std::string_view configuration, std::string_view problem,
                        DeviceKind device) {
  std::string key;
  for (const std::string_view part :
       {operator_name, variant, configuration, problem, to_string(device)}) {
    append_part(key, part);
  }
  return key;
}

}  // namespace fusebench
