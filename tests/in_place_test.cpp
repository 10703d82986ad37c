// Variants whose output overwrites their first input. Catches a call that is not in place, an input that is not
// restored before it, an overwritten input taken for tampering, tampering with the others that goes unseen, and
// calls in a row, which would work on their own outputs, offered as times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/session/judged_calls.hpp"
#include "harness/verify/battery.hpp"
#include "harness/verify/examiner.hpp"
#include "reference/residual_epilogue.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Operator& epilogue() { return registry().find_operator(residual_epilogue::operator_name); }

std::size_t in_place_among(const std::vector<Placement>& all) {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const Placement& each) { return each.in_place; }));
}

TEST(PlacementsInPlace, AreNoneOneMoreOrAll) {
  const std::size_t usual = placements(InPlace::no).size();
  EXPECT_EQ(in_place_among(placements(InPlace::no)), 0U);
  const std::vector<Placement> also = placements(InPlace::also);
  EXPECT_EQ(also.size(), usual + 1);
  EXPECT_EQ(in_place_among(also), 1U);
  EXPECT_FALSE(also.front().in_place)
      << "what is right either way is timed with an output of its own";
  EXPECT_EQ(in_place_among(placements(InPlace::only)), usual);
}

TEST(PlacementsInPlace, AreAtAllTheSameAddressesAsOthersUnderNamesOfTheirOwn) {
  const std::vector<Placement> apart = placements(InPlace::no);
  const std::vector<Placement> only = placements(InPlace::only);
  ASSERT_EQ(apart.size(), only.size());
  std::set<std::string> names;
  for (std::size_t i = 0; i < apart.size(); ++i) {
    EXPECT_EQ(only[i].shift, apart[i].shift);
    EXPECT_EQ(only[i].edge, apart[i].edge);
    EXPECT_THAT(only[i].name, HasSubstr("in place"));
    names.insert(only[i].name);
  }
  EXPECT_EQ(names.size(), only.size());
}

TEST(BatteryInPlace, HasTheSameCasesAsOthersEveryOneInPlace) {
  for (const Battery battery : {Battery::quick, Battery::full, Battery::exhaustive}) {
    const auto apart = battery_cases(epilogue(), {.in_place = InPlace::no}, battery);
    const auto only = battery_cases(epilogue(), {.in_place = InPlace::only}, battery);
    ASSERT_EQ(apart.size(), only.size());
    for (std::size_t i = 0; i < only.size(); ++i) {
      EXPECT_FALSE(apart[i].placement.in_place) << apart[i].name();
      EXPECT_TRUE(only[i].placement.in_place) << only[i].name();
      EXPECT_THAT(only[i].name(), HasSubstr("in place"));
      EXPECT_EQ(only[i].problem, apart[i].problem);
      EXPECT_EQ(only[i].repeats, apart[i].repeats);
    }
  }
}

TEST(Battery, OfTheTimedProblemAloneHasNoCasesAndEachLaterOneHasMore) {
  std::size_t before = 0;
  for (const Battery battery : {Battery::quick, Battery::full, Battery::exhaustive}) {
    const std::size_t cases = battery_cases(epilogue(), {}, battery).size();
    EXPECT_GT(cases, before) << to_string(battery);
    before = cases;
  }
  EXPECT_TRUE(battery_cases(epilogue(), {}, Battery::timed).empty());
  EXPECT_TRUE(epilogue().awkward_problems(Battery::timed).empty());
}

class InPlaceBench : public testing::Test {
 protected:
  const std::uint64_t seed_ = test::seed();
  const Problem problem_ = epilogue().parse_problem("2,5,3,7,11");
  static constexpr std::int64_t elements = std::int64_t{2} * 5 * 3 * 7 * 11;
  std::unique_ptr<Device> device_ = open_device(DeviceKind::cpu, {});
  Workbench bench_{epilogue(),
                   problem_,
                   official_inputs(epilogue(), problem_),
                   placements(InPlace::only).front(),
                   seed_,
                   *device_};
  LocalCandidate candidate_{*device_};
  const AcceptanceRule exact_{true, {}};

  static void compute(const TensorTable& tensors, std::int64_t count = elements) {
    for (std::int64_t i = 0; i < count; ++i) {
      tensors.output()[i] =
          residual_epilogue::exact_order(tensors.input(0)[i], tensors.input(1)[i / 231 % 5]);
    }
  }
  void adopt(const std::function<void(const TensorTable&)>& body) {
    candidate_.adopt(make_plan(body), bench_.views());
  }
  Verdict verdict(const std::function<void(const TensorTable&)>& body) {
    adopt(body);
    return verify_once(candidate_, bench_, *device_, exact_);
  }
};

TEST_F(InPlaceBench, HandsOutOneMemoryForOutputAndFirstInput) {
  const TensorTable tensors = bench_.tensors();
  EXPECT_EQ(tensors.output(), tensors.input(0));
  EXPECT_NE(tensors.output(), tensors.input(1));
  EXPECT_TRUE(bench_.in_place());
  EXPECT_EQ(bench_.inputs(), 2U);
}

TEST_F(InPlaceBench, RestoresTheInputBeforeEveryCallSoThatARightOneIsRightAgain) {
  for (int call = 0; call < 4; ++call) {
    const Verdict right = verdict([](const TensorTable& t) { compute(t); });
    EXPECT_TRUE(right.right) << "call " << call << ": " << right.reason;
    EXPECT_EQ(right.tally.bit_equal, elements);
  }
}

TEST_F(InPlaceBench, FailsACallThatDoesNothingOrLeavesOneElement) {
  EXPECT_FALSE(verdict([](const TensorTable&) {}).right);
  EXPECT_THAT(verdict([](const TensorTable& t) { compute(t, elements - 1); }).reason,
              AllOf(HasSubstr("1 of 2310 elements wrong"), HasSubstr("(n=1, c=4, d=2, h=6, w=10)"),
                    Not(HasSubstr("never written"))));
}

TEST_F(InPlaceBench, FailsACallThatIsMadeTwiceOnTheSameInput) {
  const Verdict twice = verdict([](const TensorTable& t) {
    compute(t);
    compute(t);
  });
  EXPECT_FALSE(twice.right);
}

TEST_F(InPlaceBench, SeesTheOtherInputChangedAndWhatIsWrittenBeside) {
  const Verdict changed = verdict([](const TensorTable& t) {
    compute(t);
    const_cast<float*>(t.input(1))[2] += 1.0F;
  });
  EXPECT_EQ(changed.tally.wrong, 0);
  EXPECT_THAT(changed.reason, HasSubstr("input b was changed"));
  const Verdict past = verdict([](const TensorTable& t) {
    compute(t);
    t.output()[elements] = 1.0F;
  });
  EXPECT_EQ(past.tally.wrong, 0);
  EXPECT_THAT(past.reason, HasSubstr("past its end"));
}

TEST_F(InPlaceBench, JudgesColdCallsOnNewContentsEachAndOffersNoneInARow) {
  int calls = 0;
  adopt([&](const TensorTable& t) {
    compute(t);
    ++calls;
  });
  JudgedCalls judged(candidate_, bench_, exact_, *device_, seed_);
  const TimedCalls timed = judged.timed();
  EXPECT_FALSE(timed.back_to_back);
  EXPECT_FALSE(timed.graph);
  for (int call = 0; call < 3; ++call) EXPECT_NO_THROW((void)timed.cold()) << call;
  // Before the first and the second one by the judge's clock too.
  EXPECT_EQ(judged.twice_timed().size(), 2U);
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(judged.calls(), 5);
  adopt([](const TensorTable&) {});
  EXPECT_THROW((void)timed.cold(), WrongOutput);
}

TEST(InPlace, OffersCallsInARowToWhomHasAnOutputOfItsOwn) {
  const auto device = open_device(DeviceKind::cpu, {});
  const Problem problem = epilogue().parse_problem("1,2,1,1,3");
  Workbench bench(epilogue(), problem, test::seed(), *device);
  LocalCandidate candidate(*device);
  JudgedCalls judged(candidate, bench, {true, {}}, *device, 1);
  EXPECT_TRUE(judged.timed().back_to_back);
  EXPECT_TRUE(judged.timed().graph);
}

TEST(InPlace, IsRefusedWhereTheOutputHasAnotherSizeThanTheFirstInput) {
  const auto device = open_device(DeviceKind::cpu, {});
  const Operator& op = registry().find_operator("conv_transpose3d_residual");
  const Problem problem = op.parse_problem("n=1,ci=2,co=3,d=2,h=2,w=2,k=3,s=2,p=1,op=1");
  EXPECT_THAT(
      [&] { Workbench(op, problem, official_inputs(op, problem), {.in_place = true}, 1, *device); },
      testing::ThrowsMessage<Error>(
          AllOf(HasSubstr("x has 16 elements"), HasSubstr("cannot be in place"))));
}

}  // namespace
}  // namespace fusebench
