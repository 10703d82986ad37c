// The judge's clock against the worker's, with made-up times. Catches a doubt that a busy host could raise,
// and a lie that passes because one call in ten was slow.
#include "harness/session/host_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace fusebench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;

TEST(ClocksDisagree, NotWhileOneCallIsWithinOneAndAHalfTimesTheMedianAndTheSlack) {
  for (const double wall : {1000.0, 1500.0, 1700.0}) {
    EXPECT_EQ(clocks_disagree([&] { return wall; }, 1000.0, 200.0), std::nullopt) << wall;
  }
  EXPECT_NE(clocks_disagree([] { return 1701.0; }, 1000.0, 200.0), std::nullopt);
}

TEST(ClocksDisagree, NotBecauseAHostWasBusyNineTimesOfTen) {
  int calls = 0;
  const auto wall = [&] { return ++calls == 10 ? 1100.0 : 90'000.0; };
  EXPECT_EQ(clocks_disagree(wall, 1000.0, 0.0), std::nullopt);
  EXPECT_EQ(calls, 10);
}

TEST(ClocksDisagree, NotForWantOfACallThatWasNeverMade) {
  int calls = 0;
  const auto wall = [&] { return ++calls == 1 ? std::numeric_limits<double>::infinity() : 1100.0; };
  EXPECT_EQ(clocks_disagree(wall, 1000.0, 0.0), std::nullopt);
  EXPECT_EQ(calls, 2);
}

TEST(ClocksDisagree, LooksNoLongerThanItMust) {
  int calls = 0;
  EXPECT_EQ(clocks_disagree([&] { return ++calls < 3 ? 9e9 : 1.0; }, 1000.0, 0.0), std::nullopt);
  EXPECT_EQ(calls, 3);
}

TEST(ClocksDisagree, NamesTheShortestByOurClockAndTheirs) {
  int calls = 0;
  const auto wall = [&] { return ++calls % 2 == 0 ? 5000.0 : 7000.0; };
  EXPECT_THAT(
      clocks_disagree(wall, 1000.0, 100.0),
      Optional(AllOf(HasSubstr("5000 ns by the judge's"), HasSubstr("1000 ns by its own"))));
}

}  // namespace
}  // namespace fusebench
