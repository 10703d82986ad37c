// Whole lines over a socket, with a deadline.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace fusebench {

class LineChannel {
 public:
  /// Owns the descriptor.
  explicit LineChannel(int descriptor) : descriptor_(descriptor) {}
  ~LineChannel();
  LineChannel(const LineChannel&) = delete;
  LineChannel& operator=(const LineChannel&) = delete;

  enum class Status { line, closed, deadline, woken };

  /// Waits for a line until `deadline`; `line` is set only with Status::line. Returns
  /// woken several times a second and after a signal, so that the caller can look whether to stop.
  Status read_until(std::chrono::steady_clock::time_point deadline, std::string& line);
  /// Waits without a limit; nullopt when the other side closed.
  std::optional<std::string> read();
  /// Sends `line` and a newline; false when the other side is gone.
  bool write(const std::string& line);

 private:
  int descriptor_;
  std::string buffer_;
};

}  // namespace fusebench
