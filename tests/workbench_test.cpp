// Red zones, the workbench and verdicts. Catches writes outside a tensor, changed inputs, results left over
// from an earlier call, and a verdict that forgets one of these because the values happen to be right.
#include "harness/verify/workbench.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <set>

#include "harness/core/error.hpp"
#include "harness/core/generator.hd.hpp"
#include "harness/core/registry.hpp"
#include "harness/verify/examiner.hpp"
#include "harness/verify/placement.hpp"
#include "reference/residual_epilogue.hpp"

namespace fusebench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;

class RedZones : public testing::TestWithParam<std::size_t> {
 protected:
  // Changes `count` bytes, whatever they hold.
  static void change(PlacedTensor& tensor, std::int64_t offset, std::size_t count) {
    auto* bytes = static_cast<unsigned char*>(tensor.address()) + offset;
    for (std::size_t i = 0; i < count; ++i) bytes[i] ^= 0xFFU;
  }
  [[nodiscard]] PlacedTensor placed(const Placement& placement) {
    return {*device_, "y", GetParam(), placement, true};
  }
  const std::int64_t end_ = static_cast<std::int64_t>(GetParam());
  std::unique_ptr<Device> device_ = open_device(DeviceKind::cpu, {});
};

INSTANTIATE_TEST_SUITE_P(OfTensorsOf, RedZones, testing::Values(4, 60, 4096, 4100, 2 << 20));

constexpr std::size_t zone = PlacedTensor::zone_bytes;

TEST_P(RedZones, AreWholeWhenTheWholeTensorAndNothingElseIsWrittenInEveryPlacement) {
  for (const Placement& placement : placements(InPlace::also)) {
    PlacedTensor tensor = placed(placement);
    tensor.arm(7);
    std::memset(tensor.address(), 0, GetParam());
    EXPECT_EQ(tensor.broken(), std::nullopt) << placement.name;
  }
}

TEST_P(RedZones, SayHowFarOutsideWasWrittenInEveryPlacementThatHasThem) {
  for (const Placement& placement : placements(InPlace::no)) {
    PlacedTensor tensor = placed(placement);
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4}, zone - 1, zone}) {
      if (placement.edge == Edge::none) {
        tensor.arm(7);
        change(tensor, end_, bytes);
        EXPECT_THAT(tensor.broken(),
                    Optional("tensor y: written " + std::to_string(bytes) + " bytes past its end"));
      }
      if (placement.edge != Edge::begin) {
        tensor.arm(8);
        change(tensor, -static_cast<std::int64_t>(bytes), bytes);
        EXPECT_THAT(tensor.broken(), Optional("tensor y: written " + std::to_string(bytes) +
                                              " bytes before its beginning"));
      }
    }
  }
}

TEST_P(RedZones, FindASingleByteFarOutside) {
  PlacedTensor tensor = placed({});
  tensor.arm(1);
  change(tensor, end_ + static_cast<std::int64_t>(zone) - 2, 1);
  EXPECT_THAT(tensor.broken(), Optional(HasSubstr("65535 bytes past")));
  tensor.arm(2);
  EXPECT_EQ(tensor.broken(), std::nullopt);
  change(tensor, -static_cast<std::int64_t>(zone) + 1, 1);
  EXPECT_THAT(tensor.broken(), Optional(HasSubstr("65535 bytes before")));
}

TEST_P(RedZones, LieWhereThePlacementSays) {
  for (const Placement& placement : placements(InPlace::no)) {
    PlacedTensor tensor = placed(placement);
    const auto begin = reinterpret_cast<std::uintptr_t>(tensor.address());
    switch (placement.edge) {
      case Edge::none: EXPECT_EQ(begin % 256, placement.shift) << placement.name; break;
      case Edge::begin: EXPECT_EQ(tensor.offset(), 0U); break;
      case Edge::end: EXPECT_EQ(tensor.offset() + tensor.bytes(), tensor.region().bytes()); break;
    }
  }
}

TEST(Edges, AreFatalToTouchOnBothSides) {
  const auto device = open_device(DeviceKind::cpu, {});
  PlacedTensor first(*device, "y", 4096, {.edge = Edge::begin}, true);
  PlacedTensor last(*device, "y", 60, {.edge = Edge::end}, true);
  const auto read = [](const void* address) { return *static_cast<const volatile char*>(address); };
  EXPECT_EXIT((void)read(static_cast<char*>(first.address()) - 1), testing::KilledBySignal(SIGSEGV),
              "");
  EXPECT_EXIT((void)read(static_cast<char*>(last.address()) + 60), testing::KilledBySignal(SIGSEGV),
              "");
}

TEST(SharedRegion, IsSeenByWhoOpensItAndReadOnlyWhereSoMade) {
  const auto device = open_device(DeviceKind::cpu, {});
  for (const bool may_write : {false, true}) {
    const auto made = device->make_region(4096, may_write);
    const auto opened = device->open_region(made->descriptor(), made->bytes(), may_write);
    static_cast<int*>(made->address())[5] = 42;
    EXPECT_EQ(static_cast<int*>(opened->address())[5], 42);
    if (may_write) {
      static_cast<int*>(opened->address())[6] = 7;
      EXPECT_EQ(static_cast<int*>(made->address())[6], 7);
    } else {
      EXPECT_EXIT(static_cast<volatile int*>(opened->address())[6] = 7,
                  testing::KilledBySignal(SIGSEGV), "");
      // nor does asking for more than was given help
      EXPECT_THROW((void)device->open_region(made->descriptor(), made->bytes(), true), Unavailable);
    }
    EXPECT_NE(ftruncate(made->descriptor(), 0), 0) << "a worker could take the judge's memory away";
  }
}

class WorkbenchTest : public testing::Test {
 protected:
  static constexpr std::uint64_t seed = 42;
  const Operator& op_ = registry().find_operator(residual_epilogue::operator_name);
  const Problem problem_ = op_.parse_problem("2,5,3,7,11");
  static constexpr std::int64_t elements = std::int64_t{2} * 5 * 3 * 7 * 11;
  std::unique_ptr<Device> device_ = open_device(DeviceKind::cpu, {});
  Workbench bench_{op_, problem_, seed, *device_};

  float* input(std::size_t index) { return const_cast<float*>(bench_.tensors().input(index)); }

  static void compute(const TensorTable& tensors, std::int64_t count = elements) {
    for (std::int64_t i = 0; i < count; ++i) {
      tensors.output()[i] =
          residual_epilogue::exact_order(tensors.input(0)[i], tensors.input(1)[i / 231 % 5]);
    }
  }

  Verdict verdict(const std::function<void(const TensorTable&)>& body) {
    LocalCandidate candidate(*device_);
    candidate.adopt(make_plan(body), bench_.views());
    return verify_once(candidate, bench_, *device_, exact_);
  }
  const AcceptanceRule exact_{true, {}};
};

TEST_F(WorkbenchTest, HoldsTheInputsOfTheSeedAndPassesARightCall) {
  const auto specs = op_.tensors(problem_);
  bench_.prepare();
  for (std::size_t t = 0; t < 2; ++t) {
    for (std::int64_t i = 0; i < element_count(specs[t].shape); ++i) {
      ASSERT_EQ(input(t)[i],
                input_value(specs[t].recipe, stream_of(seed, specs[t].recipe),
                            static_cast<std::uint64_t>(i),
                            static_cast<std::uint64_t>(element_count(specs[t].shape))));
    }
  }
  const Verdict right = verdict([](const TensorTable& t) { compute(t); });
  EXPECT_TRUE(right.right) << right.reason;
  EXPECT_EQ(right.reason, "");
  EXPECT_EQ(right.tally.compared, elements);
  EXPECT_EQ(right.tally.bit_equal, elements);
}

TEST_F(WorkbenchTest, ReportsAChangedInputAndPrepareRestoresIt) {
  const std::int64_t counts[] = {elements, 5};
  const char* names[] = {"input c", "input b"};
  for (std::size_t t = 0; t < 2; ++t) {
    for (const std::int64_t at : {std::int64_t{0}, counts[t] - 1}) {
      bench_.prepare();
      ASSERT_EQ(bench_.tampering(), std::nullopt);
      const float before = input(t)[at];
      input(t)[at] = std::nextafter(before, 9.0F);
      EXPECT_THAT(bench_.tampering(), Optional(HasSubstr(names[t])));
      bench_.prepare();
      EXPECT_EQ(bench_.tampering(), std::nullopt);
      EXPECT_EQ(input(t)[at], before);
    }
  }
}

TEST_F(WorkbenchTest, JudgesByItsOwnInputsNotByThoseACallLeftBehind) {
  const Verdict zeroed = verdict([this](const TensorTable& t) {
    std::memset(input(0), 0, elements * sizeof(float));
    compute(t);
  });
  EXPECT_FALSE(zeroed.right);
  EXPECT_GT(zeroed.tally.wrong, elements / 2);
}

TEST_F(WorkbenchTest, PoisonsEveryOutputElementAnewBeforeEachCall) {
  std::set<std::uint32_t> first_words;
  for (int call = 0; call < 5; ++call) {
    bench_.prepare();
    std::uint32_t word = 0;
    std::memcpy(&word, bench_.tensors().output(), sizeof word);
    first_words.insert(word);
    const Comparison comparison = bench_.compare_output(rule_of(op_, Precision::float32));
    EXPECT_EQ(comparison.unwritten, elements);
    EXPECT_EQ(comparison.wrong, elements);
  }
  EXPECT_GE(first_words.size(), 4U);
}

TEST_F(WorkbenchTest, FailsACallThatLeavesOneElementUnwritten) {
  const Verdict one_short = verdict([](const TensorTable& t) { compute(t, elements - 1); });
  EXPECT_FALSE(one_short.right);
  EXPECT_THAT(one_short.reason, AllOf(HasSubstr("1 of 2310 elements wrong (1 never written)"),
                                      HasSubstr("(n=1, c=4, d=2, h=6, w=10)")));
}

TEST_F(WorkbenchTest, FailsACallThatLivesOnTheResultsOfTheOneBefore) {
  int calls = 0;
  const auto once = [&](const TensorTable& t) {
    if (calls++ == 0) compute(t);
  };
  EXPECT_TRUE(verdict(once).right);
  const Verdict second = verdict(once);
  EXPECT_FALSE(second.right);
  EXPECT_EQ(second.tally.unwritten, elements);
}

TEST_F(WorkbenchTest, FailsARightOutputWhenSomethingElseWasWritten) {
  const Verdict past = verdict([](const TensorTable& t) {
    compute(t);
    t.output()[elements] = 1.0F;
  });
  EXPECT_EQ(past.tally.wrong, 0);
  EXPECT_FALSE(past.right);
  EXPECT_THAT(past.reason, AllOf(HasSubstr("tensor y"), HasSubstr("past its end")));

  const Verdict before_input = verdict([this](const TensorTable& t) {
    compute(t);
    input(1)[-1] = 1.0F;
  });
  EXPECT_FALSE(before_input.right);
  EXPECT_THAT(before_input.reason, AllOf(HasSubstr("tensor b"), HasSubstr("before")));

  const Verdict changed = verdict([this](const TensorTable& t) {
    compute(t);
    input(1)[2] += 1.0F;
  });
  EXPECT_EQ(changed.tally.wrong, 0);
  EXPECT_FALSE(changed.right);
  EXPECT_THAT(changed.reason, HasSubstr("input b was changed"));
}

TEST_F(WorkbenchTest, OneCallsBrokenStripsAreMendedForTheNextWhateverIsDoneBetween) {
  for (const bool renews : {false, true}) {
    bench_.tensors().output()[elements] = 1.0F;
    input(1)[-1] = 1.0F;
    ASSERT_NE(bench_.tampering(), std::nullopt);
    if (renews) bench_.renew(7);
    bench_.prepare();
    EXPECT_EQ(bench_.tampering(), std::nullopt);
  }
}

TEST_F(WorkbenchTest, JudgesWhatTimingLeftWithoutCallingAgain) {
  ASSERT_TRUE(verdict([](const TensorTable& t) { compute(t); }).right);
  EXPECT_TRUE(judge_output(bench_, exact_).right);
  bench_.tensors().output()[0] += 1.0F;
  EXPECT_FALSE(judge_output(bench_, exact_).right);
}

TEST_F(WorkbenchTest, RefusesAProblemThatMemoryCannotHoldByItsName) {
  EXPECT_THAT([&] { Workbench(op_, op_.parse_problem("10000000,64,32,64,64"), seed, *device_); },
              testing::ThrowsMessage<Unavailable>(HasSubstr("n=10000000,c=64")));
}

}  // namespace
}  // namespace fusebench
