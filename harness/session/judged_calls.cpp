#include "harness/session/judged_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>

#include "harness/core/generator.hd.hpp"

namespace fusebench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t contents_stream = 0xC047;
constexpr double clock_slack_ns = 40'000;   // what a clock of a busy host errs
constexpr double longest_way_ns = 300'000;  // a host that takes longer stumbled on it

// Often at first, since a slow candidate is timed few times.
bool is_timed_by_the_judge(std::uint64_t call) {
  return std::has_single_bit(call) || call % 16 == 0;
}

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
  if (is_timed_by_the_judge(++cold_calls_)) {
    twice_timed_.push_back(cold_twice_timed());
  }
  prepare();
  const Lap lap = candidate_->sample({});
  judge();
  return lap;
}

TwiceTimed JudgedCalls::cold_twice_timed() {
  Clock::time_point start = Clock::now();
  const auto about_to_run = [&] { start = Clock::now(); };
  prepare();
  // With caches as cold as the call finds them, and right before it, since it changes.
  double way = 0.0;
  int ways = 0;
  do {
    candidate_->sample_nothing(about_to_run);
    way = wall_ns_since(start);
  } while (way > longest_way_ns && ++ways < 10);
  const Lap lap = candidate_->sample(about_to_run);
  const double wall = wall_ns_since(start);
  judge();
  return {wall, std::min(way, longest_way_ns), lap.ns};
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

std::optional<std::string> doubt_times(JudgedCalls& calls, double median_ns) {
  // A host's slow spell may outlast ten calls in a row; pauses that double outlast the spell.
  std::chrono::milliseconds pause{0};
  return clocks_disagree(
      calls.twice_timed(),
      [&] {
        std::this_thread::sleep_for(pause);
        pause = std::max(2 * pause, std::chrono::milliseconds{4});
        return calls.cold_twice_timed();
      },
      median_ns, clock_slack_ns);
}

}  // namespace fusebench
