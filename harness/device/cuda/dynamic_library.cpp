#include "harness/device/cuda/dynamic_library.hpp"

#include <dlfcn.h>

#include "harness/core/error.hpp"

namespace fusebench {

DynamicLibrary::DynamicLibrary(const std::string& what, std::span<const std::string> names)
    : what_(what) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
  }
  throw Unavailable("{} was not found on this machine", what);
}

void* DynamicLibrary::address_of(const char* name) const {
  void* address = dlsym(handle_, name);
  if (address == nullptr)
    throw Unavailable("{} on this machine is too old: it has no {}", what_, name);
  return address;
}

}  // namespace fusebench
