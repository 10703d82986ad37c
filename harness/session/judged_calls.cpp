#include "harness/session/judged_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "harness/core/generator.hd.hpp"

namespace fusebench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t contents_stream = 0xC047;
constexpr double clock_slack_ns = 40'000;  // what a clock of a busy host errs
constexpr double longest_way_ns = 300'000;

double wall_ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

}  // namespace

JudgedCalls::JudgedCalls(Candidate& candidate, Workbench& bench, const AcceptanceRule& rule,
                         Device& device, std::uint64_t seed)
    : candidate_(&candidate),
      bench_(&bench),
      rule_(rule),
      device_(&device),
      contents_(random_bits(contents_stream, seed)) {}

void JudgedCalls::prepare() {
  bench_->renew(random_bits(contents_stream, contents_++));
  // Watching them as well would cost as much as the call; what is in them next is new in any case, and
  // the oracle knows it without looking.
  bench_->prepare(/*watch_inputs=*/false);
  device_->quiesce();
}

void JudgedCalls::judge() {
  ++calls_;
  Verdict verdict = judge_output(*bench_, rule_);
  if (verdict.right) return;
  verdict.reason =
      fmt::format("right at first, wrong in timed call {}: {}", calls_, verdict.reason);
  throw WrongOutput{std::move(verdict)};
}

Lap JudgedCalls::cold() {
  prepare();
  const Lap lap = candidate_->sample({});
  judge();
  return lap;
}

double JudgedCalls::cold_wall_ns() {
  prepare();
  Clock::time_point start = Clock::now();
  (void)candidate_->sample([&] { start = Clock::now(); });
  const double wall = wall_ns_since(start);
  judge();
  return wall;
}

double JudgedCalls::back_to_back(int count) {
  prepare();
  const double ns = candidate_->back_to_back(count);
  judge();
  return ns;
}

std::optional<double> JudgedCalls::graph(int count) {
  prepare();
  const auto ns = candidate_->graph(count);
  if (ns) judge();
  return ns;
}

TimedCalls JudgedCalls::timed() {
  if (bench_->in_place()) return {[this] { return cold(); }, {}, {}};
  return {[this] { return cold(); }, [this](int count) { return back_to_back(count); },
          [this](int count) { return graph(count); }};
}

std::optional<std::string> doubt_times(JudgedCalls& calls, Candidate& candidate, double median_ns) {
  // What the word to go and the answer take on their way, with caches as cold as the call finds them;
  // measured right before each call, since it changes. A host that stumbled makes no allowance.
  const auto way_ns = [&] {
    Clock::time_point start = Clock::now();
    candidate.sample_nothing([&] { start = Clock::now(); });
    return std::min(wall_ns_since(start), longest_way_ns);
  };
  return clocks_disagree(
      [&] {
        const double way = way_ns();
        return calls.cold_wall_ns() - way;
      },
      median_ns, clock_slack_ns);
}

}  // namespace fusebench
