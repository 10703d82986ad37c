#include "harness/session/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "harness/core/error.hpp"
#include "harness/session/child_process.hpp"
#include "harness/session/worker_process.hpp"

namespace fusebench {
namespace {

constexpr std::size_t most_words = 4096;

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw Error("no pipe: {}", std::strerror(errno));
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends) {
      if (end >= 0) close(end);
    }
  }
  void close_end(std::size_t i) {
    close(ends[i]);
    ends[i] = -1;
  }
};

// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become(char* const* argv, pid_t parent, int words, int refusal, bool output) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  (void)setpgid(0, 0);  // Ctrl-C is for us, who tell it
  const int nothing = open("/dev/null", O_RDWR);
  if (nothing >= 0) {
    (void)dup2(nothing, STDIN_FILENO);
    (void)dup2(nothing, STDOUT_FILENO);
  }
  if (output) (void)dup2(words, STDOUT_FILENO);
  (void)dup2(words, STDERR_FILENO);
  execv(argv[0], argv);
  const int why = errno;
  (void)!write(refusal, &why, sizeof why);
  _exit(127);
}

std::string last_line_of(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const std::size_t start = text.find_last_of("\r\n");
  return std::string(start == text.npos ? text : text.substr(start + 1));
}

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience{10};  // from being told to end to being killed

// It leads a group of its own, which ends with it at the latest when this object does.
class Child {
 public:
  explicit Child(pid_t process) : process_(process) {
    (void)setpgid(process_, process_);  // whoever of the two comes first
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (!reaped_) (void)reap();
  }

  void tell_to_end() const { (void)kill(process_, SIGTERM); }
  void kill_all() const { kill_group(process_); }
  [[nodiscard]] bool has_died() const { return fusebench::has_died(process_); }
  // Its status.
  int reap() {
    kill_all();
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    reaped_ = true;
    return status;
  }

 private:
  pid_t process_;
  bool reaped_ = false;
};

// What it says until it dies, or what of that is newest. Not until its standard error is closed: what it has started may
// hold that, and live on.
class Listener {
 public:
  explicit Listener(int from) : from_(from) {}

  // Waits a little for more to read; false when there was none.
  bool listen(int milliseconds) {
    if (closed_) {
      (void)poll(nullptr, 0, std::min(milliseconds, 5));  // the end must be near
      return false;
    }
    pollfd waiting{from_, POLLIN, 0};
    if (poll(&waiting, 1, milliseconds) <= 0) return false;
    std::array<char, 4096> buffer{};
    const ssize_t size = read(from_, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) return false;
    closed_ = size <= 0;
    if (closed_) return false;
    words_.append(buffer.data(), static_cast<std::size_t>(size));
    if (words_.size() > 2 * most_words) words_.erase(0, words_.size() - most_words);
    return true;
  }
  [[nodiscard]] const std::string& words() const { return words_; }

 private:
  int from_;
  bool closed_ = false;
  std::string words_;
};

enum class End { its_own, interrupted, too_late };

End wait_for(Child& child, Listener& listener, const std::function<int()>& interrupts,
             double most_seconds) {
  const Clock::time_point start = Clock::now();
  std::optional<Clock::time_point> told;
  while (!child.has_died()) {
    const int times = interrupts();
    const Clock::time_point now = Clock::now();
    if (times > 0 && !told) {
      told = now;
      child.tell_to_end();
    }
    if (told && (times > 1 || now - *told > patience)) child.kill_all();
    if (std::chrono::duration<double>(now - start).count() > most_seconds) return End::too_late;
    (void)listener.listen(100);
  }
  while (listener.listen(0)) {
  }
  return told ? End::interrupted : End::its_own;
}

}  // namespace

void require_program(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw Error("there is no program {}; give the path of a fusebench", path);
  }
  if (!std::filesystem::is_regular_file(path, ignored) || access(path.c_str(), X_OK) != 0) {
    throw Error("{} is no program that can be run; give the path of a fusebench", path);
  }
}

ProgramEnd run_program(const std::vector<std::string>& command,
                       const std::function<int()>& interrupts, const ProgramOptions& options) {
  std::vector<std::string> arguments = command;
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  Pipe words, refusal;
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process == 0) {
    become(argv.data(), parent, words.ends[1], refusal.ends[1], options.listen_to_output);
  }
  if (process < 0) throw Error("cannot start {}: {}", command[0], std::strerror(errno));
  Child child(process);
  words.close_end(1);
  refusal.close_end(1);

  Listener listener(words.ends[0]);
  const End end = wait_for(child, listener, interrupts, options.most_seconds);
  const int status = child.reap();
  if (end == End::interrupted) throw Interrupted();
  if (end == End::too_late) {
    throw Error("{} did not end within {} s", command[0], options.most_seconds);
  }
  int why = 0;
  if (read(refusal.ends[0], &why, sizeof why) == static_cast<ssize_t>(sizeof why)) {
    throw Error("cannot start {}: {}", command[0], std::strerror(why));
  }
  ProgramEnd ended;
  ended.last_words = last_line_of(listener.words());
  if (WIFSIGNALED(status)) {
    ended.how = fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  } else {
    ended.exit_code = WEXITSTATUS(status);
    ended.how = fmt::format("exit code {}", ended.exit_code);
  }
  return ended;
}

}  // namespace fusebench
