// Red zones, the workbench and verdicts. Catches writes outside a tensor, changed inputs, results left over
// from an earlier call, and a verdict that forgets one of these because the values happen to be right.
#include "harness/verify/workbench.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "harness/core/error.hpp"
#include "harness/core/generator.hpp"
#include "harness/core/registry.hpp"
#include "harness/verify/red_zones.hpp"
#include "harness/verify/verifier.hpp"
#include "reference/residual_epilogue.hpp"

namespace fusebench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;

constexpr std::int64_t zone = GuardedBuffer::zone_bytes;

class RedZones : public testing::TestWithParam<std::size_t> {
 protected:
  // Changes `count` bytes, whatever they hold.
  void change(std::int64_t offset, std::int64_t count) {
    auto* bytes = static_cast<unsigned char*>(buffer_.address());
    for (std::int64_t i = offset; i < offset + count; ++i) bytes[i] ^= 0xFFU;
  }
  const std::int64_t end_ = static_cast<std::int64_t>(GetParam());
  std::unique_ptr<Device> device_ = open_device(DeviceKind::cpu, {});
  GuardedBuffer buffer_{*device_, "y", GetParam()};
};

INSTANTIATE_TEST_SUITE_P(OfBuffersOf, RedZones, testing::Values(1, 4, 60, 4099, 2 << 20));

TEST_P(RedZones, AreWholeWhenTheWholeBufferAndNothingElseIsWritten) {
  buffer_.arm();
  std::memset(buffer_.address(), 0, GetParam());
  EXPECT_EQ(buffer_.broken(), std::nullopt);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer_.address()) % 256, 0U);
}

TEST_P(RedZones, SayHowFarPastTheEndWasWritten) {
  for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{4}, zone - 1, zone}) {
    buffer_.arm();
    change(end_, bytes);
    EXPECT_THAT(buffer_.broken(),
                Optional("tensor y: written " + std::to_string(bytes) + " bytes past its end"));
  }
}

TEST_P(RedZones, SayHowFarBeforeTheBeginningWasWritten) {
  for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{4}, zone - 1, zone}) {
    buffer_.arm();
    change(-bytes, bytes);
    EXPECT_THAT(buffer_.broken(), Optional("tensor y: written " + std::to_string(bytes) +
                                           " bytes before its beginning"));
  }
}

TEST_P(RedZones, FindASingleByteFarOutside) {
  buffer_.arm();
  change(end_ + zone - 2, 1);
  EXPECT_THAT(buffer_.broken(), Optional(HasSubstr("65535 bytes past")));
  buffer_.arm();
  EXPECT_EQ(buffer_.broken(), std::nullopt);
  change(-zone + 1, 1);
  EXPECT_THAT(buffer_.broken(), Optional(HasSubstr("65535 bytes before")));
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
    const auto plan = make_plan(body);
    return verify_once(*plan, bench_, *device_, Precision::exact_order);
  }
};

TEST_F(WorkbenchTest, HoldsTheInputsOfTheSeedAndPassesARightCall) {
  const auto specs = op_.tensors(problem_);
  bench_.prepare();
  for (std::size_t t = 0; t < 2; ++t) {
    for (std::int64_t i = 0; i < element_count(specs[t].shape); ++i) {
      ASSERT_EQ(input(t)[i], input_value(specs[t].recipe, stream_of(seed, specs[t].recipe),
                                         static_cast<std::uint64_t>(i)));
    }
  }
  const Verdict right = verdict([](const TensorTable& t) { compute(t); });
  EXPECT_TRUE(right.right) << right.reason;
  EXPECT_EQ(right.reason, "");
  EXPECT_EQ(right.comparison.compared, elements);
  EXPECT_EQ(right.comparison.bit_equal, elements);
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
  EXPECT_GT(zeroed.comparison.wrong, elements / 2);
}

TEST_F(WorkbenchTest, PoisonsEveryOutputElementAnewBeforeEachCall) {
  std::set<std::uint32_t> first_words;
  for (int call = 0; call < 5; ++call) {
    bench_.prepare();
    std::uint32_t word = 0;
    std::memcpy(&word, bench_.tensors().output(), sizeof word);
    first_words.insert(word);
    const Comparison comparison = bench_.compare_output(Precision::float32);
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
  EXPECT_EQ(second.comparison.unwritten, elements);
}

TEST_F(WorkbenchTest, FailsARightOutputWhenSomethingElseWasWritten) {
  const Verdict past = verdict([](const TensorTable& t) {
    compute(t);
    t.output()[elements] = 1.0F;
  });
  EXPECT_EQ(past.comparison.wrong, 0);
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
  EXPECT_EQ(changed.comparison.wrong, 0);
  EXPECT_FALSE(changed.right);
  EXPECT_THAT(changed.reason, HasSubstr("input b was changed"));
}

TEST_F(WorkbenchTest, JudgesWhatTimingLeftWithoutCallingAgain) {
  ASSERT_TRUE(verdict([](const TensorTable& t) { compute(t); }).right);
  EXPECT_TRUE(judge_output(bench_, Precision::exact_order).right);
  bench_.tensors().output()[0] += 1.0F;
  EXPECT_FALSE(judge_output(bench_, Precision::exact_order).right);
}

TEST_F(WorkbenchTest, RefusesAProblemThatMemoryCannotHoldByItsName) {
  EXPECT_THAT([&] { Workbench(op_, op_.parse_problem("10000000,64,32,64,64"), seed, *device_); },
              testing::ThrowsMessage<Unavailable>(HasSubstr("n=10000000,c=64")));
}

}  // namespace
}  // namespace fusebench
