#include "harness/session/child_process.hpp"

#include <signal.h>
#include <sys/wait.h>

namespace fusebench {

bool has_died(pid_t process) noexcept {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid != 0;
}

void kill_group(pid_t process) noexcept {
  (void)kill(-process, SIGKILL);
  (void)kill(process, SIGKILL);
}

}  // namespace fusebench
