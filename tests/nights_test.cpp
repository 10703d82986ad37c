// Nights of which we know what changed: 30 series and three controls, ten replicas a build; 300 of interleaved
// builds, 60 pairs of files of two nights. Catches rules that cry wolf, and rules that never do.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <numeric>
#include <random>
#include <string>

#include "harness/compare/comparison.hpp"
#include "seed.hpp"

namespace fusebench {
namespace {

constexpr int series_count = 30;
constexpr int replicas = 10;
constexpr int the_slow_one = 7;
const std::vector<std::string> controls = {"copy", "memcpy", "fill"};

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
  void next_night() { night = noise(0.01); }

  double replica_median(double ns, int round) {
    double process = ns * night * noise(0.003) * (1.0 + trend * round / replicas);
    if (one_in_50()) process *= 1.05 + 0.15 * uniform();
    std::vector<double> samples(30);
    for (double& sample : samples) sample = process * noise(0.003) * (one_in_50() ? 1.2 : 1.0);
    return median(sorted(samples));
  }
};

struct Subject {
  std::string operator_name, variant;
  double ns = 0.0;
};

std::string series(int number) { return std::to_string(number); }

Subject subject(int number, double slowdown) {
  return {"op", series(number), 1e5 * (1 + number) * (number == the_slow_one ? slowdown : 1.0)};
}

void measure_once(Machine& machine, const Subject& subject, const std::string& run, int round,
                  Night& into) {
  Record record;
  record.run_id = run;
  record.replica = round;
  record.operator_name = subject.operator_name;
  record.variant = subject.variant;
  record.outcome = Outcome::passed;
  record.median_ns = machine.replica_median(subject.ns, round);
  into.add(record);
}

// The numbered series and the controls, as both builds have them in turn.
Builds interleaved(Machine& machine, const std::vector<int>& numbers, double slowdown,
                   const std::string& run) {
  Builds builds{Night("before"), Night("after")};
  for (int round = 0; round < replicas; ++round) {
    for (const bool is_new : {false, true}) {
      Night& night = is_new ? builds.after : builds.before;
      for (const std::string& name : controls) {
        measure_once(machine, {control_operator, name, 1e5}, run, round, night);
      }
      for (const int number : numbers) {
        measure_once(machine, subject(number, is_new ? slowdown : 1.0), run, round, night);
      }
    }
  }
  return builds;
}

std::vector<int> all_series() {
  std::vector<int> numbers(series_count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

struct Found {
  int slow_one = 0;          // nights in which the slow one was called slower
  int others = 0;            // other series called slower
  int others_faster = 0;     // or faster
  int ambiguous = 0;         // of all
  int slow_one_at_once = 0;  // before anything was confirmed
  int others_at_once = 0;
  int regressed = 0;  // nights with any regression
};

int slower(const Comparison& comparison, bool the_slow) {
  int count = 0;
  for (const SeriesComparison& s : comparison.series) {
    const bool is_it = s.id.variant == series(the_slow_one);
    count += is_it == the_slow && s.verdict == Verdict::slower ? 1 : 0;
  }
  return count;
}

// Between the first processes and those that confirm the machine moves as between two nights.
Found simulate(double slowdown, double trend, int nights = 300) {
  Machine machine{.random = std::mt19937_64(test::seed()), .trend = trend};
  Found found;
  for (int night = 0; night < nights; ++night) {
    machine.next_night();
    const Builds first = interleaved(machine, all_series(), slowdown, "first");
    const Comparison at_once = compare(first.before, first.after, {});
    std::vector<int> again;
    for (const SeriesId& id : to_confirm(at_once)) again.push_back(std::stoi(id.variant));
    machine.next_night();
    const Builds fresh = interleaved(machine, again, slowdown, "fresh");
    const Comparison last = again.empty() ? at_once : compare_confirmed(first, fresh, {});
    const bool none_is_slow = slowdown == 1.0;
    found.slow_one += slower(last, true);
    found.others += slower(last, false) + (none_is_slow ? slower(last, true) : 0);
    found.slow_one_at_once += slower(at_once, true);
    found.others_at_once += slower(at_once, false) + (none_is_slow ? slower(at_once, true) : 0);
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

// One file a night, all of the old before any of the new, as `compare` gets them.
Found two_files(double slowdown, bool with_controls, int pairs = 60) {
  Machine machine{.random = std::mt19937_64(test::seed())};
  Found found;
  for (int pair = 0; pair < pairs; ++pair) {
    Builds nights{Night("old.csv"), Night("new.csv")};
    for (const bool is_new : {false, true}) {
      machine.next_night();
      Night& night = is_new ? nights.after : nights.before;
      for (int round = 0; round < replicas; ++round) {
        for (const std::string& name : controls) {
          if (with_controls)
            measure_once(machine, {control_operator, name, 1e5}, "run", round, night);
        }
        for (const int number : all_series()) {
          measure_once(machine, subject(number, is_new ? slowdown : 1.0), "run", round, night);
        }
      }
    }
    const Comparison comparison = compare(nights.before, nights.after, {});
    found.slow_one += slower(comparison, true);
    found.others += slower(comparison, false);
    found.regressed += comparison.regressed() ? 1 : 0;
    found.ambiguous += static_cast<int>(comparison.count(Verdict::ambiguous));
  }
  std::cout << "two files, slowdown " << slowdown << (with_controls ? "" : ", no controls")
            << ": found in " << found.slow_one << ", others slower " << found.others << " of "
            << pairs * (series_count - 1) << ", a regression in " << found.regressed << " of "
            << pairs << " pairs, ambiguous " << found.ambiguous << "\n";
  return found;
}

TEST(TwoFiles, OfNightsThatDifferAreNoRegressionWhereTheControlsMovedToo) {
  EXPECT_LE(two_files(1.0, true).regressed, 3);
  // The bar means something: the same nights without controls are full of alarms.
  EXPECT_GE(two_files(1.0, false).regressed, 15);
}

TEST(TwoFiles, StillShowASlowdownThatIsLargerThanTheNightsDiffer) {
  EXPECT_GE(two_files(1.05, true).slow_one, 57);
}

}  // namespace
}  // namespace fusebench
