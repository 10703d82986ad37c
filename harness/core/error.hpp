// The one exception type of the library rooms: what went wrong, where, and how to mend it, in one line.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace fusebench {

/// Bad input or an environment that cannot do what was asked. The message is one line that names the
/// thing and the mend; the command line prints it as it is and exits with 2.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  template <typename... Args>
  explicit Error(fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

/// This machine, device or build cannot do it, although the request is sound: the outcome is
/// `unavailable`, with this message as its reason.
class Unavailable : public Error {
 public:
  using Error::Error;
};

}  // namespace fusebench
