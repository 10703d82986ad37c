// Mutants that attack the process, its clock and its way to the judge.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "harness/core/error.hpp"
#include "tests/mutants/cpu_mutant.hpp"

namespace {

// The C library's clock with a hand on it: once patched, a tenth of the time seems to pass.
bool clock_is_patched = false;
timespec patched_at;

long long nanoseconds(const timespec& time) {
  return static_cast<long long>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

// Takes the place of the C library's in this program, for the judge as well, which never patches it.
extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long result = syscall(SYS_clock_gettime, clock, now);
  if (clock_is_patched && clock == CLOCK_MONOTONIC) {
    const long long start = nanoseconds(patched_at);
    const long long slow = start + (nanoseconds(*now) - start) / 10;
    now->tv_sec = slow / 1'000'000'000;
    now->tv_nsec = slow % 1'000'000'000;
  }
  return static_cast<int>(result);
}

namespace fusebench::residual_epilogue {
namespace {

[[noreturn]] void sleep_for_ever() {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

// Every socket of the worker hears it; one of them leads to the judge.
void say(const char* text, std::size_t bytes) {
  for (int descriptor = 3; descriptor < 256; ++descriptor) {
    (void)send(descriptor, text, bytes, MSG_NOSIGNAL);
  }
}

const bool deaths =
    add_mutant("segfault", must_be(21, "crashed", "signal 11"),
               [](const Epilogue&, const Configuration&) { (void)std::raise(SIGSEGV); }) &&
    add_mutant("aborts", must_be(21, "crashed", "signal 6"),
               [](const Epilogue&, const Configuration&) { std::abort(); }) &&
    add_mutant("exits", must_be(21, "crashed", "exited with code 0"),
               [](const Epilogue&, const Configuration&) { _exit(0); }) &&
    add_mutant("throws", must_be(21, "failed", "thrown by a mutant"),
               [](const Epilogue&, const Configuration&) {
                 throw std::runtime_error("thrown by a mutant");
               }) &&
    add_mutant("throws_int", must_be(21, "failed", "no std::exception"),
               [](const Epilogue&, const Configuration&) { throw 42; }) &&
    add_mutant("endless", must_be(21, "timed_out", "no answer within"),
               [](const Epilogue&, const Configuration&) { sleep_for_ever(); }) &&
    add_mutant("stops", must_be(21, "timed_out", "no answer within"),
               [](const Epilogue&, const Configuration&) { (void)std::raise(SIGSTOP); }) &&
    // Looks dead to a judge who waits for the socket to close, and lives on.
    add_mutant("closes_descriptors", must_be(21, "crashed", "signal 9"),
               [](const Epilogue&, const Configuration&) {
                 for (int descriptor = 3; descriptor < 256; ++descriptor) (void)close(descriptor);
                 sleep_for_ever();
               });

const bool refusals =
    add_mutant("refuses_everything", must_be(21, "unavailable", "verified in no case: .*not today"),
               [](const Epilogue&, const Configuration&) { throw Unavailable("not today"); }) &&
    add_mutant("refuses_later", must_be(21, "failed", "refused a call after it had taken one"),
               [](const Epilogue& e, const Configuration&) {
                 static int calls = 0;
                 if (++calls > 1) throw Unavailable("not again");
                 right(e);
               });

const bool lies =
    add_mutant("forges_phase", must_be(27, "failed", "to no question of ours"),
               [](const Epilogue&, const Configuration&) {
                 constexpr char forged[] = "{\"phase\": 5}\n";
                 say(forged, sizeof forged - 1);
               }) &&
    add_mutant("forges_verdict", must_be(27, "failed", "to no question of ours"),
               [](const Epilogue&, const Configuration&) {
                 constexpr char forged[] =
                     "{\"result\": {\"outcome\": \"passed\"}, \"ns\": 1, \"launches\": 1}\n";
                 say(forged, sizeof forged - 1);
               }) &&
    add_mutant("talks_nonsense", must_be(27, "failed", "not readable"),
               [](const Epilogue&, const Configuration&) { say("\xFF\n", 2); }) &&
    add_mutant("slows_its_clock", must_be(27, "wrong", "part of the work escapes the clock"),
               [](const Epilogue& e, const Configuration&) {
                 if (!clock_is_patched) {
                   (void)clock_gettime(CLOCK_MONOTONIC, &patched_at);
                   clock_is_patched = true;
                 }
                 right(e);
               }) &&
    // Fast only where nobody else holds a watch: calls in a row, after the first, do nothing.
    add_mutant("skips_repeats_and_slows_its_clock",
               must_be(27, "wrong", "part of the work escapes the clock"),
               [](const Epilogue& e, const Configuration&) {
                 static float seen = 0.0F;
                 if (!clock_is_patched) {
                   (void)clock_gettime(CLOCK_MONOTONIC, &patched_at);
                   clock_is_patched = true;
                 }
                 if (e.sizes.elements() > 500'000 && e.c[0] == seen) return;
                 seen = e.c[0];
                 right(e);
               });

// What a shared host does to any call: fast for a while, then slow for longer than ten judged calls take.
void in_slow_spells(const Epilogue& e) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds period{700};
  constexpr std::chrono::milliseconds slow{300};
  right(e);
  const auto now = Clock::now();
  if (now.time_since_epoch() % period > slow) return;
  while (Clock::now() - now < std::chrono::microseconds(300)) {
  }
}

const bool slow_spells =
    add_honest("slow_spells", "slow for 300 ms in every 700",
               [](const Epilogue& e, const Configuration&) { in_slow_spells(e); });

const bool talkative =
    add_honest("prints", "prints to standard output", [](const Epilogue& e, const Configuration&) {
      std::puts("a candidate prints to standard output");
      (void)std::fflush(stdout);
      right(e);
    });

}  // namespace
}  // namespace fusebench::residual_epilogue
