// Nights of which we know what changed: 300 of 30 series, ten interleaved replicas a build. Catches rules that cry
// wolf, and rules that never do.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <random>
#include <string>

#include "harness/compare/comparison.hpp"
#include "seed.hpp"

namespace fusebench {
namespace {

constexpr int series_count = 30;
constexpr int replicas = 10;
constexpr int the_slow_one = 7;

// What a process adds to all its samples: 0.3%, and one in 50 is 5% to 20% slow. A sample adds 0.3%, and one in 50 is
// 20% slow. Nights differ by 1%, and in the course of one the machine slows by `trend`.
struct Machine {
  std::mt19937_64 random;
  double trend = 0.0;
  double night = 1.0;

  double noise(double share) {
    return std::exp(share * std::normal_distribution<double>()(random));
  }
  bool one_in_50() { return random() % 50 == 0; }
  double uniform() { return std::uniform_real_distribution<double>()(random); }

  double replica_median(double ns, int round) {
    double process = ns * night * noise(0.003) * (1.0 + trend * round / replicas);
    if (one_in_50()) process *= 1.05 + 0.15 * uniform();
    std::vector<double> samples(30);
    for (double& sample : samples) sample = process * noise(0.003) * (one_in_50() ? 1.2 : 1.0);
    return median(sorted(samples));
  }
};

struct Builds {
  Night before{"before"}, after{"after"};
};

void measure(Machine& machine, int series, double slowdown, const std::string& run,
             const std::vector<Builds*>& into) {
  for (int round = 0; round < replicas; ++round) {
    for (const bool is_new : {false, true}) {
      Record record;
      record.run_id = run;
      record.replica = round;
      record.operator_name = "op";
      record.variant = std::to_string(series);
      record.outcome = Outcome::passed;
      const double ns = 1e5 * (1 + series) * (is_new && series == the_slow_one ? slowdown : 1.0);
      record.median_ns = machine.replica_median(ns, round);
      for (Builds* builds : into) (is_new ? builds->after : builds->before).add(record);
    }
  }
}

struct Found {
  int slow_one = 0;          // nights in which the slow one was called slower
  int others = 0;            // other series called slower
  int others_faster = 0;     // or faster
  int ambiguous = 0;         // of all
  int slow_one_at_once = 0;  // before anything was confirmed
  int others_at_once = 0;
};

int slower(const Comparison& comparison, bool the_slow) {
  int count = 0;
  for (const SeriesComparison& series : comparison.series) {
    const bool is_it = series.id.variant == std::to_string(the_slow_one);
    count += is_it == the_slow && series.verdict == Verdict::slower ? 1 : 0;
  }
  return count;
}

Found simulate(double slowdown, double trend, int nights = 300) {
  Machine machine{.random = std::mt19937_64(test::seed()), .trend = trend};
  Found found;
  for (int night = 0; night < nights; ++night) {
    machine.night = machine.noise(0.01);
    Builds all, fresh;
    for (int series = 0; series < series_count; ++series) {
      measure(machine, series, slowdown, "first", {&all});
    }
    const Comparison first = compare(all.before, all.after, {});
    for (const SeriesId& id : to_confirm(first)) {
      measure(machine, std::stoi(id.variant), slowdown, "fresh", {&all, &fresh});
    }
    const Comparison last = compare_confirmed(all.before, all.after, fresh.before, fresh.after, {});
    const bool none_is_slow = slowdown == 1.0;
    found.slow_one += slower(last, true);
    found.others += slower(last, false) + (none_is_slow ? slower(last, true) : 0);
    found.slow_one_at_once += slower(first, true);
    found.others_at_once += slower(first, false) + (none_is_slow ? slower(first, true) : 0);
    found.others_faster += static_cast<int>(last.count(Verdict::faster));
    found.ambiguous += static_cast<int>(last.count(Verdict::ambiguous));
  }
  std::cout << "slowdown " << slowdown << ", trend " << trend << ": found in " << found.slow_one
            << " of " << nights << " (" << found.slow_one_at_once
            << " before confirmation); others slower " << found.others << " ("
            << found.others_at_once << "), faster " << found.others_faster << ", ambiguous "
            << found.ambiguous << " of " << nights * series_count << "\n";
  return found;
}

TEST(Nights, WithoutAChangeNothingIsCalled) {
  for (const double trend : {0.0, 0.01}) {
    const Found found = simulate(1.0, trend);
    EXPECT_EQ(found.others, 0);
    EXPECT_EQ(found.others_faster, 0);
  }
}

TEST(Nights, ASlowdownOfTwoPercentIsFoundIn99OfAHundred) {
  const Found found = simulate(1.02, 0.0);
  EXPECT_GE(found.slow_one, 297);
  EXPECT_EQ(found.others, 0);
}

TEST(Nights, ASlowdownOfOnePercentIsFoundIn90OfAHundred) {
  const Found found = simulate(1.01, 0.0);
  EXPECT_GE(found.slow_one, 270);
  EXPECT_EQ(found.others, 0);
}

TEST(Nights, AMachineThatSlowsByOnePercentMeanwhileHidesNothingLarger) {
  EXPECT_GE(simulate(1.02, 0.01).slow_one, 297);
}

}  // namespace
}  // namespace fusebench
