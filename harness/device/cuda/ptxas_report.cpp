// Reading what ptxas -v prints; a pure function, tested with reports of several versions.
#include <regex>
#include <sstream>

#include "harness/device/cuda/compiler.hpp"

namespace fusebench {

std::vector<KernelResources> parse_ptxas_report(const std::string& log) {
  static const std::regex entry(R"(Compiling entry function '([^']+)')");
  static const std::regex properties(R"(Function properties for (\S+))");
  static const std::regex frame(
      R"((\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads)");
  static const std::regex used(R"(Used (\d+) registers)");
  static const std::regex shared(R"((\d+) bytes smem)");
  std::vector<KernelResources> found;
  std::istringstream lines(log);
  std::smatch match;
  std::string function;  // whose frame the next line tells: an entry's or that of one it calls
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, entry)) {
      found.push_back({.entry = match[1]});
    } else if (found.empty()) {
      continue;
    } else if (std::regex_search(line, match, properties)) {
      function = match[1];
    } else if (function == found.back().entry && std::regex_search(line, match, frame)) {
      found.back().stack_bytes = std::stoi(match[1]);
      found.back().spill_store_bytes = std::stoi(match[2]);
      found.back().spill_load_bytes = std::stoi(match[3]);
    } else if (std::regex_search(line, match, used)) {
      found.back().registers = std::stoi(match[1]);
      if (std::regex_search(line, match, shared)) found.back().shared_bytes = std::stoi(match[1]);
    }
  }
  return found;
}

}  // namespace fusebench
