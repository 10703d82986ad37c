#include "harness/session/fault_report.hpp"

#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace fusebench {
namespace {

// How far from a tensor an address still speaks of it.
constexpr std::uintptr_t nearby = std::uintptr_t{1} << 20;

struct Tensor {
  std::array<char, 32> name{};
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// A signal handler has nothing but globals. Only the worker's main thread writes them.
std::array<Tensor, 8> tensors;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
int judge = -1;                 // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// What may be called in a signal handler is little: no allocation, no formatting library.
class Text {
 public:
  void add(const char* text) {
    while (*text != '\0' && used_ + 1 < bytes_.size()) bytes_[used_++] = *text++;
  }
  void add(std::uintptr_t number) {
    std::array<char, 24> digits{};
    std::size_t at = digits.size() - 1;
    do {
      digits[--at] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    add(&digits[at]);
  }
  void send_to(int descriptor) const {
    (void)::send(descriptor, bytes_.data(), used_, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

 private:
  std::array<char, 256> bytes_{};
  std::size_t used_ = 0;
};

void tell(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  Text text;
  text.add("{\"fault\": \"");
  bool known = false;
  for (const Tensor& tensor : tensors) {
    if (tensor.name[0] == '\0' || known) continue;
    if (address >= tensor.begin && address < tensor.end) {
      text.add("it wrote to ");
      text.add(tensor.name.data());
      text.add(", which is read only, at byte ");
      text.add(address - tensor.begin);
      known = true;
    } else if (address >= tensor.end && address - tensor.end < nearby) {
      text.add("it touched ");
      text.add(address - tensor.end + 1);
      text.add(" bytes past the end of ");
      text.add(tensor.name.data());
      known = true;
    } else if (address < tensor.begin && tensor.begin - address < nearby) {
      text.add("it touched ");
      text.add(tensor.begin - address);
      text.add(" bytes before the beginning of ");
      text.add(tensor.name.data());
      known = true;
    }
  }
  text.add("\"}\n");
  if (known) text.send_to(judge);
  // Once more without a handler, so that the process ends as it would have.
  // Blocked until this returns; it kills even where somebody only sent the signal.
  (void)signal(SIGSEGV, SIG_DFL);
  (void)raise(SIGSEGV);
}

}  // namespace

void report_faults(int descriptor) {
  judge = descriptor;
  struct sigaction action {};
  action.sa_sigaction = tell;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  (void)sigaction(SIGSEGV, &action, nullptr);
}

void name_tensor(std::size_t index, const std::string& name, const void* begin, std::size_t bytes) {
  Tensor& tensor = tensors.at(index);
  tensor = {};
  std::memcpy(tensor.name.data(), name.data(), std::min(name.size(), tensor.name.size() - 1));
  tensor.begin = reinterpret_cast<std::uintptr_t>(begin);
  tensor.end = tensor.begin + bytes;
}

}  // namespace fusebench
