#include "harness/session/variant_sources.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/cuda/kernel_cache.hpp"

namespace fusebench {
namespace {

bool is_kernel_source(const std::string& name) {
  return name.ends_with(".cu") || name.ends_with(".cuh") || name.ends_with(".hd.hpp");
}

std::string text_of(const std::string& name, std::string_view built_in, const std::string& folder) {
  if (folder.empty() || !is_kernel_source(name)) return std::string(built_in);
  std::ifstream file(folder + "/" + name, std::ios::binary);
  if (!file) {
    throw Error("cannot read {}/{}; --kernels must name a fusebench checkout", folder, name);
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// "a/b.hpp" of each line that includes it.
std::vector<std::string> includes_of(const std::string& text) {
  std::vector<std::string> names;
  const std::string start = "#include \"";
  for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at)) {
    at += start.size();
    names.push_back(text.substr(at, text.find_first_of("\"\n", at) - at));
  }
  return names;
}

}  // namespace

std::string source_hash(const Variant& variant, const std::string& folder) {
  std::vector<std::string> left = {registry().file_of(variant)};
  const VariantInfo& info = variant.info();
  // Any problem: all have the same sources.
  const Problem problem = registry().find_operator(info.operator_name).parse_problem("official");
  for (const KernelSpec& spec : variant.kernels(problem, info.parameters.default_configuration())) {
    left.push_back(spec.source);
  }
  std::map<std::string, std::string> texts;
  const auto& built_in = registry().sources();
  while (!left.empty()) {
    const std::string name = std::move(left.back());
    left.pop_back();
    if (texts.contains(name)) continue;
    const auto found = built_in.find(name);
    std::string& text = texts[name];
    if (found == built_in.end()) continue;
    text = text_of(name, found->second, folder);
    for (std::string& included : includes_of(text)) {
      if (!built_in.contains(included)) continue;
      if (included.ends_with(".hpp") && !included.ends_with(".hd.hpp")) {
        const std::string beside = included.substr(0, included.size() - 3) + "cpp";
        if (built_in.contains(beside)) left.push_back(beside);
      }
      left.push_back(std::move(included));
    }
  }
  std::vector<std::string_view> parts;
  for (const auto& [name, text] : texts) parts.insert(parts.end(), {name, text});
  return hash_of(parts);
}

}  // namespace fusebench
