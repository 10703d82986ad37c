#include "harness/core/registry.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "harness/core/error.hpp"

namespace fusebench {

Registry& registry() {
  static Registry instance;
  return instance;
}

bool Registry::add(std::unique_ptr<Operator> op) {
  std::string name(op->name());
  if (!operators_.try_emplace(name, std::move(op)).second) {
    throw Error("operator '{}' is registered twice", name);
  }
  return true;
}

bool Registry::add(std::unique_ptr<Variant> variant, const char* file) {
  const VariantInfo& info = variant->info();
  for (const auto& other : variants_) {
    if (other->info().operator_name == info.operator_name && other->info().name == info.name) {
      throw Error("variant '{}' of operator '{}' is registered twice", info.name,
                  info.operator_name);
    }
  }
  files_[variant.get()] = file;
  variants_.push_back(std::move(variant));
  return true;
}

std::string Registry::file_of(const Variant& variant) const {
  const auto found = files_.find(&variant);
  if (found == files_.end()) throw Error("variant '{}' is not registered", variant.info().name);
  return found->second;
}

bool Registry::add_source(std::string name, std::string_view text) {
  if (!sources_.try_emplace(name, text).second)
    throw Error("source '{}' is registered twice", name);
  return true;
}

std::vector<const Operator*> Registry::operators() const {
  std::vector<const Operator*> found;
  for (const auto& [name, op] : operators_) found.push_back(op.get());
  return found;
}

const Operator& Registry::find_operator(std::string_view name) const {
  if (const auto it = operators_.find(name); it != operators_.end()) return *it->second;
  std::vector<std::string> names;
  for (const auto& [key, op] : operators_) names.push_back(key);
  throw Error("no operator '{}'; there is: {}", name, fmt::join(names, ", "));
}

std::vector<const Variant*> Registry::variants(std::string_view operator_name) const {
  std::vector<const Variant*> found;
  for (const auto& variant : variants_) {
    if (variant->info().operator_name == operator_name) found.push_back(variant.get());
  }
  std::sort(found.begin(), found.end(), [](const Variant* a, const Variant* b) {
    return std::pair(a->info().device, a->info().name) <
           std::pair(b->info().device, b->info().name);
  });
  return found;
}

const Variant& Registry::find_variant(std::string_view operator_name, std::string_view name) const {
  for (const auto& variant : variants_) {
    if (variant->info().operator_name == operator_name && variant->info().name == name) {
      return *variant;
    }
  }
  throw Error("operator '{}' has no variant '{}'; see 'fusebench list'", operator_name, name);
}

}  // namespace fusebench
