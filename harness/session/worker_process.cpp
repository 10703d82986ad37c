#include "harness/session/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "harness/core/error.hpp"
#include "harness/device/cpu/thread_pool.hpp"
#include "harness/session/child_process.hpp"

namespace fusebench {
namespace {

std::vector<std::string> worker_arguments(int descriptor, DeviceKind kind,
                                          const DeviceOptions& options) {
  std::vector<std::string> arguments = {"fusebench",    worker_command,
                                        "--descriptor", std::to_string(descriptor),
                                        "--device",     std::string(to_string(kind))};
  if (options.pin_threads) arguments.emplace_back("--pin");
  if (!options.kernel_folder.empty()) {
    arguments.insert(arguments.end(), {"--kernels", options.kernel_folder});
  }
  return arguments;
}

std::uint64_t random_token() {
  std::random_device entropy;
  return std::uint64_t{entropy()} << 32U | entropy();
}

// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become_worker(char* const* argv, pid_t judge, int descriptor) {
  (void)fcntl(descriptor, F_SETFD,
              0);  // this child alone keeps it, whoever else starts one meanwhile
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed judge leaves no orphan on the device
  if (getppid() != judge) _exit(127);
  (void)setpgid(0, 0);  // Ctrl-C is for the judge, who decides
  untie_thread();  // with --pin the judge keeps to one core, and its worker must not inherit that
  // A read from the terminal would stop a process in the background.
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) (void)dup2(nothing, STDIN_FILENO);
  (void)dup2(STDERR_FILENO, STDOUT_FILENO);  // a candidate's prints must not enter our tables
  execv("/proc/self/exe", argv);
  _exit(127);
}

}  // namespace

WorkerProcess::WorkerProcess(DeviceKind kind, const DeviceOptions& options,
                             std::function<bool()> interrupted)
    : kind_(kind), interrupted_(std::move(interrupted)) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error("cannot start a worker process: {}", std::strerror(errno));
  }
  channel_ = std::make_unique<LineChannel>(ends[0]);
  std::vector<std::string> arguments = worker_arguments(ends[1], kind, options);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  const pid_t judge = getpid();
  process_ = fork();
  if (process_ == 0) become_worker(argv.data(), judge, ends[1]);
  close(ends[1]);
  if (process_ > 0) (void)setpgid(process_, process_);  // whoever of the two comes first
  if (process_ < 0) throw Error("cannot start a worker process: {}", std::strerror(errno));
}

// It leads a group of its own: what it has started goes with it.
void WorkerProcess::kill_all() const noexcept { kill_group(process_); }

bool WorkerProcess::has_died() const noexcept { return fusebench::has_died(process_); }

WorkerProcess::~WorkerProcess() {
  if (process_ <= 0) return;
  if (reaped_) {
    (void)kill(-process_, SIGKILL);
    return;
  }
  kill_all();
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string WorkerProcess::cause_of_death() {
  // It may have closed its end and live on; one that is dying keeps its own status.
  kill_all();
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  const std::string words = last_words_.empty() ? "" : ": " + last_words_;
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return fmt::format("killed by signal {} ({}){}", number, strsignal(number), words);
  }
  return fmt::format("the worker process exited with code {}{}", WEXITSTATUS(status), words);
}

void WorkerProcess::set_limit(std::chrono::duration<double> limit) {
  limit_ = limit;
  left_ = limit;
}

void WorkerProcess::lose(Outcome outcome, const std::string& reason) {
  throw LostWorker(outcome, fmt::format("{} in phase {}", reason, phase_));
}

nlohmann::json WorkerProcess::ask(nlohmann::json message, const std::vector<int>& files,
                                  const std::function<void(const std::string&)>& on_phase) {
  // A candidate shares the worker's memory and its socket. An answer that was written before the question,
  // or by someone who did not see it, has another token.
  const std::string token = fmt::format("{:016x}", random_token());
  message["token"] = token;
  const auto start = std::chrono::steady_clock::now();
  const auto deadline = start + std::chrono::duration_cast<std::chrono::nanoseconds>(left_);
  // A worker that died before this is noticed by the read below.
  (void)channel_->write(message.dump(), files);
  nlohmann::json answer = answer_to(token, deadline, on_phase);
  left_ -= std::chrono::steady_clock::now() - start;
  const auto reason = [&](const char* kind) {
    return answer[kind].is_string() ? answer[kind].get<std::string>() : std::string();
  };
  if (answer.contains("unavailable")) throw Unavailable("{}", reason("unavailable"));
  if (answer.contains("failed")) throw Error("{}", reason("failed"));
  return answer;
}

void WorkerProcess::tell(const nlohmann::json& message) { (void)channel_->write(message.dump()); }

nlohmann::json WorkerProcess::answer_to(const std::string& token,
                                        std::chrono::steady_clock::time_point deadline,
                                        const std::function<void(const std::string&)>& on_phase) {
  using Status = LineChannel::Status;
  for (;;) {
    std::string line;
    switch (channel_->read_until(deadline, line)) {
      case Status::closed: lose(Outcome::crashed, cause_of_death());
      case Status::deadline:
        lose(Outcome::timed_out, fmt::format("no answer within {} s", limit_.count()));
      case Status::woken:
        if (interrupted_()) throw Interrupted();
        // A child that it left behind keeps the socket open.
        if (has_died()) lose(Outcome::crashed, cause_of_death());
        continue;
      case Status::line: break;
    }
    nlohmann::json answer = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!answer.is_object()) lose(Outcome::failed, "the worker's answer is not readable");
    if (answer.contains("fault") && answer["fault"].is_string()) {
      last_words_ = answer["fault"].get<std::string>();
      continue;
    }
    if (answer.value("token", nlohmann::json()) != token) {
      lose(Outcome::failed, "the worker's answer is to no question of ours");
    }
    if (!answer.contains("phase")) return answer;
    if (on_phase && answer["phase"].is_string()) on_phase(answer["phase"].get<std::string>());
  }
}

}  // namespace fusebench
