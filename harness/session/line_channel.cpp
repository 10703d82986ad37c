#include "harness/session/line_channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace fusebench {
namespace {

constexpr long longest_wait_ms = 200;

}  // namespace

LineChannel::~LineChannel() { close(descriptor_); }

LineChannel::Status LineChannel::read_until(std::chrono::steady_clock::time_point deadline,
                                            std::string& line) {
  for (;;) {
    if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
      line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return Status::line;
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return Status::deadline;
    pollfd waiting{descriptor_, POLLIN, 0};
    // Short, because a signal that comes just before poll does not wake it.
    const auto wait = std::min<long>(left.count(), longest_wait_ms);
    const int ready = poll(&waiting, 1, static_cast<int>(wait));
    if (ready == 0 || (ready < 0 && errno == EINTR)) return Status::woken;
    if (ready < 0) return Status::closed;
    std::array<char, 65536> chunk{};
    const ssize_t bytes = ::read(descriptor_, chunk.data(), chunk.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return Status::closed;
    buffer_.append(chunk.data(), static_cast<std::size_t>(bytes));
  }
}

std::optional<std::string> LineChannel::read() {
  std::string line;
  for (;;) {
    const auto far = std::chrono::steady_clock::now() + std::chrono::hours(24);
    switch (read_until(far, line)) {
      case Status::line: return line;
      case Status::closed: return std::nullopt;
      case Status::deadline:
      case Status::woken: break;
    }
  }
}

bool LineChannel::write(const std::string& line) {
  const std::string text = line + "\n";
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t bytes = send(descriptor_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return false;
    sent += static_cast<std::size_t>(bytes);
  }
  return true;
}

}  // namespace fusebench
