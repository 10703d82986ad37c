#include "harness/device/cuda/cudnn/cudnn_reason.hpp"

namespace fusebench {

std::string cudnn_reason(std::string_view message) {
  std::string line;
  for (const char c : message) {
    const bool gap = c == '\n' || c == '\t' || c == ' ';
    if (!gap) line += c;
    if (gap && !line.empty() && line.back() != ' ') line += ' ';
  }
  constexpr std::string_view mark = "Warning: ";
  if (const std::size_t first = line.find(mark); first != std::string::npos) {
    line = line.substr(first + mark.size());
    line = line.substr(0, line.find(mark));
  }
  constexpr std::size_t most = 300;
  if (line.size() > most) line = line.substr(0, most) + "...";
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace fusebench
