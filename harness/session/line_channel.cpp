#include "harness/session/line_channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace fusebench {
namespace {

constexpr long longest_wait_ms = 200;
constexpr std::size_t longest_line = std::size_t{64} << 20;

}  // namespace

LineChannel::~LineChannel() {
  for (const int file : files_) close(file);
  close(descriptor_);
}

ssize_t LineChannel::receive(char* to, std::size_t bytes) {
  iovec part{to, bytes};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_files * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t received = recvmsg(descriptor_, &message, MSG_CMSG_CLOEXEC);
  if (received < 0) return received;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int file = -1;
      std::memcpy(&file, CMSG_DATA(header) + i * sizeof file, sizeof file);
      files_.push_back(file);
    }
  }
  return received;
}

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
    const ssize_t bytes = receive(chunk.data(), chunk.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return Status::closed;
    buffer_.append(chunk.data(), static_cast<std::size_t>(bytes));
    // Whoever sends without end must not keep the caller from looking up.
    if (buffer_.size() > longest_line) return Status::closed;
    if (buffer_.find('\n') == std::string::npos) return Status::woken;
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

bool LineChannel::write(const std::string& line, const std::vector<int>& files) {
  std::string text = line + "\n";
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_files * sizeof(int))> control{};
  std::size_t sent = 0;
  while (sent < text.size()) {
    iovec part{text.data() + sent, text.size() - sent};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (sent == 0 && !files.empty()) {
      const std::size_t bytes = std::min(files.size(), most_files) * sizeof(int);
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(bytes);
      cmsghdr* const header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(bytes);
      std::memcpy(CMSG_DATA(header), files.data(), bytes);
    }
    const ssize_t bytes = sendmsg(descriptor_, &message, MSG_NOSIGNAL);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return false;
    sent += static_cast<std::size_t>(bytes);
  }
  return true;
}

}  // namespace fusebench
