// The one registry of operators, variants and kernel sources, filled by static objects before main.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/operator.hpp"
#include "harness/core/variant.hpp"

namespace fusebench {

class Registry {
 public:
  /// Both return true so that a static object can be initialised with them. Throw Error when the
  /// name is taken; a variant's operator may be registered after it.
  bool add(std::unique_ptr<Operator> op);
  /// `file` is what the variant is written in: by default the caller's __FILE__.
  bool add(std::unique_ptr<Variant> variant, const char* file = __builtin_FILE());
  /// A source file built into the program: a kernel, a header that kernels include, or what a variant is built from.
  bool add_source(std::string name, std::string_view text);

  [[nodiscard]] std::vector<const Operator*> operators() const;
  /// Throws Error listing the operators there are.
  [[nodiscard]] const Operator& find_operator(std::string_view name) const;
  /// All variants of one operator, CPU first, then by name.
  [[nodiscard]] std::vector<const Variant*> variants(std::string_view operator_name) const;
  /// Throws Error when there is none of that name.
  [[nodiscard]] const Variant& find_variant(std::string_view operator_name,
                                            std::string_view name) const;
  /// The file that registered it, a path from the root of the checkout. Throws Error when it is not registered.
  [[nodiscard]] std::string file_of(const Variant& variant) const;
  [[nodiscard]] const std::map<std::string, std::string_view>& sources() const noexcept {
    return sources_;
  }

 private:
  std::map<std::string, std::unique_ptr<Operator>, std::less<>> operators_;
  std::vector<std::unique_ptr<Variant>> variants_;
  std::map<const Variant*, std::string> files_;
  std::map<std::string, std::string_view> sources_;
};

/// The registry of this executable.
[[nodiscard]] Registry& registry();

}  // namespace fusebench
