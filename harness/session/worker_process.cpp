#include "harness/session/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/core/error.hpp"

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

// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become_worker(char* const* argv, pid_t judge) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed judge leaves no orphan on the device
  if (getppid() != judge) _exit(127);
  (void)setpgid(0, 0);  // Ctrl-C is for the judge, who decides
  // A read from the terminal would stop a process in the background.
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) (void)dup2(nothing, STDIN_FILENO);
  (void)dup2(STDERR_FILENO, STDOUT_FILENO);  // a candidate's prints must not enter our tables
  execv("/proc/self/exe", argv);
  _exit(127);
}

}  // namespace

WorkerProcess::WorkerProcess(DeviceKind kind, const DeviceOptions& options) : kind_(kind) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) {
    throw Error("cannot start a worker process: {}", std::strerror(errno));
  }
  (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  channel_ = std::make_unique<LineChannel>(ends[0]);
  std::vector<std::string> arguments = worker_arguments(ends[1], kind, options);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  const pid_t judge = getpid();
  process_ = fork();
  if (process_ == 0) become_worker(argv.data(), judge);
  close(ends[1]);
  if (process_ < 0) throw Error("cannot start a worker process: {}", std::strerror(errno));
}

WorkerProcess::~WorkerProcess() {
  if (reaped_ || process_ <= 0) return;
  (void)kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string WorkerProcess::cause_of_death() {
  // It may have closed its end and live on; one that is dying keeps its own status.
  (void)kill(process_, SIGKILL);
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return fmt::format("killed by signal {} ({})", number, strsignal(number));
  }
  return fmt::format("the worker process exited with code {}", WEXITSTATUS(status));
}

JobResult WorkerProcess::run(const Job& job, std::chrono::duration<double> limit,
                             const std::function<void(const std::string&)>& on_phase,
                             const std::function<bool()>& interrupted) {
  using Status = LineChannel::Status;
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::nanoseconds>(limit);
  std::string phase = "start";
  const auto give_up = [&](Outcome outcome, const std::string& reason) {
    usable_ = false;
    JobResult result;
    result.record = record_of(job, kind_);
    result.record.outcome = outcome;
    result.record.reason = reason;
    return result;
  };

  // A worker that died between jobs is noticed by the read below.
  (void)channel_->write(nlohmann::json(job).dump());
  for (;;) {
    std::string line;
    const Status status = channel_->read_until(deadline, line);
    if (status == Status::closed) {
      return give_up(Outcome::crashed, fmt::format("{} in phase {}", cause_of_death(), phase));
    }
    if (status == Status::deadline) {
      return give_up(Outcome::timed_out,
                     fmt::format("no answer within {} s in phase {}", limit.count(), phase));
    }
    if (status == Status::woken) {
      if (interrupted()) return give_up(Outcome::failed, "interrupted");
      continue;
    }
    // A candidate shares the worker's memory and could write anything here.
    try {
      const auto message = nlohmann::json::parse(line);
      if (message.contains("phase")) {
        phase = message.at("phase").get<std::string>();
        on_phase(phase);
        continue;
      }
      auto result = message.at("result").get<JobResult>();
      // What a candidate that was wrong or failed has done to the process or the CUDA context cannot be
      // known; the next one must not pay for it.
      const Outcome outcome = result.record.outcome;
      usable_ = outcome == Outcome::passed || outcome == Outcome::unavailable;
      return result;
    } catch (const std::exception&) {
      return give_up(Outcome::failed, "the worker's answer is not readable");
    }
  }
}

}  // namespace fusebench
