// A shared library found at run time, so that the program starts where it is missing.
#pragma once

#include <span>
#include <string>

namespace fusebench {

class DynamicLibrary {
 public:
  /// Opens the first of `names` that loads. Throws Unavailable, saying `what` is missing, otherwise.
  DynamicLibrary(const std::string& what, std::span<const std::string> names);

  /// Throws Unavailable when the library is too old to have it.
  template <typename Function>
  [[nodiscard]] Function symbol(const char* name) const {
    return reinterpret_cast<Function>(address_of(name));
  }

 private:
  [[nodiscard]] void* address_of(const char* name) const;

  std::string what_;
  void* handle_ = nullptr;  // kept until the process ends: drivers do not survive dlclose
};

}  // namespace fusebench
