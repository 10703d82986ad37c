// Whole lines over a socket, with a deadline; open files may travel with a line.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  /// woken several times a second, after a signal and after half a line, so that the caller can look
  /// whether to stop; closed too when a line does not end.
  Status read_until(std::chrono::steady_clock::time_point deadline, std::string& line);
  /// Waits without a limit; nullopt when the other side closed.
  std::optional<std::string> read();
  /// Sends `line` and a newline, with duplicates of `files`; false when the other side is gone. At most
  /// most_files of them.
  bool write(const std::string& line, const std::vector<int>& files = {});
  static constexpr std::size_t most_files = 16;

  /// The files that came with the lines read so far, in order, since the last take; the caller's now.
  [[nodiscard]] std::vector<int> take_files() { return std::exchange(files_, {}); }

 private:
  [[nodiscard]] ssize_t receive(char* to, std::size_t bytes);

  int descriptor_;
  std::string buffer_;
  std::vector<int> files_;
};

}  // namespace fusebench
