#include "harness/tune/recorded_space.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "harness/core/error.hpp"
#include "harness/tune/recorded_formats.hpp"
#include "harness/tune/text_file.hpp"
#include "harness/tune/tuning_log.hpp"

namespace fusebench {
namespace {

constexpr std::array<const char*, 5> names = {"correct", "compile", "runtime", "correctness",
                                              "timeout"};

}  // namespace

Invalidity parse_invalidity(const std::string& text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    throw Error(
        "invalidity '{}' is none of correct, compile, runtime, correctness, timeout, constraints",
        text);
  }
  return static_cast<Invalidity>(found - names.begin());
}

const char* to_string(Invalidity invalidity) {
  return names.at(static_cast<std::size_t>(invalidity));
}

RecordedSpace read_recorded_space(const std::string& path) {
  const std::string text = read_text_file(path);
  try {
    // Large files are parsed once: what they are must be seen before.
    if (text.find("\"cache\"") != std::string::npos) return read_kernel_tuner(path, text);
    if (text.find("\"results\"") != std::string::npos) return read_t4(path, text);
  } catch (const Error& error) {
    if (std::string_view(error.what()).starts_with(path)) throw;
    throw Error("{}: {}", path, error.what());
  }
  throw Error("{} is no recorded space: it has neither 'cache', as Kernel Tuner's files have, nor "
              "'results', as T4 files have",
              path);
}

std::vector<NamedSpace> read_recorded_spaces(const std::string& path, const std::string& filter) {
  const std::string text = read_text_file(path);
  if (is_tuning_log(text)) return read_log_spaces(path, text, filter);
  if (!filter.empty())
    throw Error("--filter chooses variants of a tuning log, and {} is none", path);
  std::string name = std::filesystem::path(path).filename().string();
  for (const char* suffix : {".gz", ".json"}) {
    if (name.ends_with(suffix)) name.resize(name.size() - std::string_view(suffix).size());
  }
  std::vector<NamedSpace> one;
  one.push_back({std::move(name), read_recorded_space(path)});
  return one;
}

}  // namespace fusebench
