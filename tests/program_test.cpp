// Another program run to its end. Catches a wait for what it has left behind, an interrupt that is not heeded, and a
// child that outlives it.
#include "harness/session/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "harness/core/error.hpp"
#include "harness/session/worker_process.hpp"

namespace fusebench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

int never() { return 0; }

ProgramEnd shell(const std::string& script, const std::function<int()>& interrupts = never,
                 const ProgramOptions& options = {}) {
  return run_program({"/bin/sh", "-c", script}, interrupts, options);
}

// A zombie that nobody reaps is dead too.
bool lives(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return !text.empty() && text.find(") Z ") == text.npos;
}

// Who is killed takes a moment to be gone.
bool is_gone_soon(const std::string& process) {
  for (int i = 0; i < 500 && lives(process); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return !lives(process);
}

TEST(Program, TellsHowItEndedAndItsLastWords) {
  const ProgramEnd good = shell("echo first >&2; echo last words >&2; echo output");
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_EQ(good.last_words, "last words");
  EXPECT_EQ(shell("echo output", never, {.listen_to_output = true}).last_words, "output");
  EXPECT_EQ(shell("echo output").last_words, "");
  EXPECT_EQ(shell("exit 7").how, "exit code 7");
  const ProgramEnd killed = shell("kill -SEGV $$");
  EXPECT_EQ(killed.exit_code, -1);
  EXPECT_THAT(killed.how, HasSubstr("signal 11"));
  // More than the pipe holds, and all read.
  EXPECT_EQ(shell("i=0; while [ $i -lt 20000 ]; do echo word $i; i=$((i+1)); done >&2").last_words,
            "word 19999");
  EXPECT_EQ(shell("exec 2>&-; exit 3").exit_code, 3);
}

TEST(Program, IsNotWaitedForLongerThanItLivesAndLeavesNothingBehind) {
  const ProgramEnd end = shell("sleep 600 & echo $! >&2");
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_TRUE(is_gone_soon(end.last_words)) << end.last_words;
  const ProgramEnd deaf = shell("(trap '' TERM INT; sleep 600) & echo $! >&2; exit 4");
  EXPECT_EQ(deaf.exit_code, 4);
  EXPECT_TRUE(is_gone_soon(deaf.last_words));
}

TEST(Program, IsToldToEndAtTheFirstInterrupt) {
  const std::string told = testing::TempDir() + "fusebench-program-test-told";
  std::remove(told.c_str());
  const std::string script =
      "trap 'echo told >" + told + "; exit 0' TERM; while :; do sleep 0.05; done";
  int asked = 0;
  EXPECT_THROW((void)shell(script, [&] { return ++asked > 3 ? 1 : 0; }), Interrupted);
  EXPECT_TRUE(std::ifstream(told).good());
  std::remove(told.c_str());
}

TEST(Program, ThatDoesNotHeedAnInterruptIsKilledAtTheSecondOrAfterAWhile) {
  const std::string deaf = "trap '' TERM; while :; do sleep 0.05; done";
  int asked = 0;
  EXPECT_THROW((void)shell(deaf, [&] { return ++asked > 6 ? 2 : (asked > 3 ? 1 : 0); }),
               Interrupted);
  EXPECT_GT(asked, 6);
  asked = 0;
  EXPECT_THROW((void)shell(deaf, [&] { return ++asked > 3 ? 1 : 0; }), Interrupted);
  EXPECT_GT(asked, 50);  // it was asked for ten seconds, while the program stayed deaf
}

TEST(Program, IsKilledWhenItsTimeIsUpOrCannotStart) {
  EXPECT_THAT([] { (void)shell("yes >&2", never, {.most_seconds = 0.3}); },
              ThrowsMessage<Error>(AllOf(HasSubstr("/bin/sh"), HasSubstr("within 0.3 s"))));
  EXPECT_THAT([] { (void)run_program({"/nonexistent"}, never); },
              ThrowsMessage<Error>(AllOf(HasSubstr("/nonexistent"), HasSubstr("No such file"))));
  EXPECT_THROW(require_program("/nonexistent"), Error);
  EXPECT_THROW(require_program("/tmp"), Error);
}

}  // namespace
}  // namespace fusebench
