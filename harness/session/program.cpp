#include "harness/session/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "harness/core/error.hpp"
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
[[noreturn]] void become(char* const* argv, pid_t parent, int words, int refusal) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  const int nothing = open("/dev/null", O_RDWR);
  if (nothing >= 0) {
    (void)dup2(nothing, STDIN_FILENO);
    (void)dup2(nothing, STDOUT_FILENO);
  }
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

// What it says until it closes its standard error, or what of that is newest.
std::string words_of(int from, pid_t process, const std::function<bool()>& interrupted,
                     bool& was_interrupted) {
  std::string words;
  std::array<char, 4096> buffer{};
  while (true) {
    if (!was_interrupted && interrupted()) {
      was_interrupted = true;
      (void)kill(process, SIGTERM);
    }
    pollfd waiting{from, POLLIN, 0};
    if (poll(&waiting, 1, 100) <= 0) continue;
    const ssize_t size = read(from, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return words;
    words.append(buffer.data(), static_cast<std::size_t>(size));
    if (words.size() > 2 * most_words) words.erase(0, words.size() - most_words);
  }
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
                       const std::function<bool()>& interrupted) {
  std::vector<std::string> arguments = command;
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  Pipe words, refusal;
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process == 0) become(argv.data(), parent, words.ends[1], refusal.ends[1]);
  if (process < 0) throw Error("cannot start {}: {}", command[0], std::strerror(errno));
  words.close_end(1);
  refusal.close_end(1);

  bool was_interrupted = false;
  ProgramEnd end;
  end.last_words = last_line_of(words_of(words.ends[0], process, interrupted, was_interrupted));
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (was_interrupted) throw Interrupted();
  int why = 0;
  if (read(refusal.ends[0], &why, sizeof why) == static_cast<ssize_t>(sizeof why)) {
    throw Error("cannot start {}: {}", command[0], std::strerror(why));
  }
  if (WIFSIGNALED(status)) {
    end.how = fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  } else {
    end.exit_code = WEXITSTATUS(status);
    end.how = fmt::format("exit code {}", end.exit_code);
  }
  return end;
}

}  // namespace fusebench
