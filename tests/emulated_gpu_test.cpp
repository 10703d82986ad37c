// The wgmma kernels without a GPU, on an emulated one, where whatever no barrier orders comes in any order. Catches wrong
// values, a slot that is overwritten or read too early, a copy that nobody awaits, bytes that tensor cores read before they
// are published, and deadlocks. Not what a real GPU's caches, clocks and compiler do, nor how its tensor cores round sums; and
// neither wgmma.fence, nor the fence behind mbarriers' initialisation, nor setmaxnreg, nor dependent launches are emulated.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/verify/acceptance.hpp"
#include "harness/verify/examiner.hpp"
#include "reference/conv_transpose3d_residual.hpp"
#include "tests/contracts.hpp"
#include "tests/emulation/emulated_gpu.hpp"
#include "tests/emulation/formats.hpp"
#include "tests/seed.hpp"

namespace fusebench {
namespace {

using emulation::EmulatedGpu;

constexpr int processors = 4;
constexpr const char* doubling = ",k=3,s=2,p=1,op=1";
// What a kernel would take seconds for.
constexpr std::int64_t most_outputs = 400'000;

const Operator& convolution() {
  return registry().find_operator(conv_transpose3d_residual::operator_name);
}

const Variant& variant_named(const std::string& name) {
  return registry().find_variant(conv_transpose3d_residual::operator_name, name);
}

Problem problem_of(const std::string& sizes) {
  return convolution().parse_problem(sizes + doubling);
}

// Calls, each scheduled in its own way: all right, and of equal bits. Else why not, or what was thrown.
std::optional<std::string> fault_of(const Variant& variant, const Configuration& configuration,
                                    const Case& one, EmulatedGpu& gpu, std::uint64_t seed,
                                    int calls = 2) {
  const AcceptanceRule rule = one.inputs.exact_values
                                  ? AcceptanceRule{false, {0.0, 0.0}}
                                  : rule_of(convolution(), variant.info().precision);
  Workbench bench(convolution(), one.problem, one.inputs, one.placement, seed, gpu);
  LocalCandidate candidate(gpu);
  try {
    candidate.adopt(variant.prepare(one.problem, configuration, gpu), bench.views());
    const Verdict first = verify_once(candidate, bench, gpu, rule);
    if (!first.right) return first.reason;
    const std::uint64_t bits = bench.output_fingerprint();
    for (int call = 1; call < calls; ++call) {
      bench.rearm();
      const Verdict again = verify_once(candidate, bench, gpu, rule);
      if (!again.right) return again.reason;
      if (bench.output_fingerprint() != bits) return "other bits in another schedule";
    }
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

Case with_inputs(const Problem& problem, const std::string& name) {
  for (const InputSet& set : convolution().input_sets()) {
    if (set.name == name) return {problem, set, {}};
  }
  throw Error("no inputs are called '{}'", name);
}

class EmulatedWgmma : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] const Variant& variant() const { return variant_named(GetParam()); }
  [[nodiscard]] Configuration by_default() const {
    return variant().info().parameters.default_configuration();
  }
};

// The cases of the quick battery that this contract is held to, but those that would take long; every third where elements
// have one product, since little else is different there.
TEST_P(EmulatedWgmma, IsRightInTheQuickBattery) {
  const std::uint64_t seed = test::seed();
  EmulatedGpu gpu(processors, seed);
  const bool three_products = std::string(GetParam()).ends_with("x3");
  const int step = three_products ? 1 : 3;
  int met = 0;
  for (const Case& one : battery_cases(convolution(), variant().info(), Battery::quick)) {
    const auto outputs = element_count(convolution().tensors(one.problem).back().shape);
    if (outputs > most_outputs || variant().refuses(one.problem) ||
        !within_range(convolution(), one, variant().info().precision, seed)) {
      continue;
    }
    if (met++ % step != 0) continue;
    const auto fault = fault_of(variant(), by_default(), one, gpu, seed);
    EXPECT_EQ(fault, std::nullopt) << one.name();
  }
  EXPECT_GT(met, 40);
}

// Where slots are few each is taken again and again.
TEST_P(EmulatedWgmma, IsRightWithFewestSlotsAndTheLongestAndShortestRuns) {
  const std::uint64_t seed = test::seed();
  EmulatedGpu gpu(processors, seed);
  const ParameterSpace& space = variant().info().parameters;
  const std::string slots =
      by_default().values().front().first == "slots" ? "slots=3" : "alike_slots=3,mixed_slots=4";
  for (const char* others : {",runs=32,singles=0", ",runs=4,singles=6"}) {
    for (const char* sizes : {"n=2,ci=32,co=64,d=5,h=6,w=32", "n=1,ci=7,co=9,d=6,h=5,w=34"}) {
      const Problem problem = problem_of(sizes);
      const Case one{problem, official_inputs(convolution(), problem), {}};
      EXPECT_EQ(fault_of(variant(), space.parse(slots + others), one, gpu, seed), std::nullopt)
          << one.name() << others;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, EmulatedWgmma,
                         testing::Values("cuda_wgmma_bf16x3", "cuda_wgmma_fp16x3",
                                         "cuda_wgmma_tf32", "cuda_wgmma_bf16", "cuda_wgmma_fp16"),
                         [](const auto& of) { return std::string(of.param); });

// In a range where none is infinite; ties are rounded to even, but TF32's away from zero.
TEST(EmulatedFormats, RoundAsDefined) {
  std::mt19937_64 random(test::seed());
  for (int i = 0; i < 300'000; ++i) {
    const double fraction = 1.0 + static_cast<double>(random() % (1U << 23U)) / (1U << 23U);
    const int exponent = static_cast<int>(random() % 40) - 25;
    const auto value =
        static_cast<float>(std::ldexp(random() % 2 == 0 ? fraction : -fraction, exponent));
    ASSERT_EQ(emulation::float_of_fp16(emulation::fp16_of(value)), test::fp16(value)) << value;
    ASSERT_EQ(emulation::float_of_bf16(emulation::bf16_of(value)), test::bf16(value)) << value;
    const float tf32 = std::bit_cast<float>(emulation::tf32_of(value));
    ASSERT_LE(std::abs(tf32 - value), std::ldexp(1.0, exponent - 11)) << value;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(tf32) % (1U << 13U), 0U) << value;
  }
  EXPECT_EQ(emulation::tf32_of(1.0F + 0x1p-11F), std::bit_cast<std::uint32_t>(1.0F + 0x1p-10F));
  EXPECT_EQ(emulation::float_of_fp16(emulation::fp16_of(65519.0F)), 65504.0F);
  EXPECT_EQ(emulation::float_of_fp16(emulation::fp16_of(65520.0F)), INFINITY);
  EXPECT_TRUE(std::isnan(emulation::float_of_fp16(emulation::fp16_of(NAN))));
  EXPECT_TRUE(std::isnan(emulation::float_of_bf16(emulation::bf16_of(NAN))));
}

// Planes that do not bear the power of two of the one before, mapped and not. Which segments a block takes must not show in
// the bits.
TEST(EmulatedScaledWgmma, IsRightWherePlanesChangeTheirScale) {
  const std::uint64_t seed = test::seed();
  EmulatedGpu gpu(processors, seed);
  const Variant& variant = variant_named("cuda_wgmma_fp16x3");
  for (const char* sizes : {"n=1,ci=1,co=4,d=16,h=8,w=8", "n=1,ci=33,co=4,d=8,h=8,w=9"}) {
    for (const char* inputs : {"wide magnitudes in x", "bands of magnitudes in x", "NaN among x"}) {
      const Case one = with_inputs(problem_of(sizes), inputs);
      EXPECT_EQ(
          fault_of(variant, variant.info().parameters.default_configuration(), one, gpu, seed, 4),
          std::nullopt)
          << one.name();
    }
  }
}

struct Mutation {
  const char* name;
  const char* variant;
  const char* file;
  const char* from;
  const char* to;
  const char* fault;  // a regular expression
};

void PrintTo(const Mutation& mutation, std::ostream* to) { *to << mutation.name; }

class MutatedWgmma : public testing::TestWithParam<Mutation> {};

// So the tests above can fail.
TEST_P(MutatedWgmma, IsCaught) {
  const Mutation& of = GetParam();
  const std::uint64_t seed = test::seed();
  EmulatedGpu gpu(processors, seed, emulation::SourceEdit{of.file, of.from, of.to});
  const Variant& variant = variant_named(of.variant);
  const Problem problem = problem_of("n=2,ci=32,co=64,d=9,h=8,w=32");
  const Case one{problem, official_inputs(convolution(), problem), {}};
  // Each try has a schedule of its own.
  std::optional<std::string> fault;
  for (int i = 0; i < 8 && !fault; ++i) {
    fault = fault_of(variant, variant.info().parameters.default_configuration(), one, gpu, seed);
  }
  ASSERT_NE(fault, std::nullopt);
  EXPECT_TRUE(std::regex_search(*fault, std::regex(of.fault))) << *fault;
}

// What reads or writes at a wrong time is told by whatever it meets first.
constexpr const char* anything_wrong =
    "elements wrong|did not publish|still bringing|mbarrier|other bits";

INSTANTIATE_TEST_SUITE_P(
    Kernels, MutatedWgmma,
    testing::Values(
        Mutation{"nothing_is_published", "cuda_wgmma_bf16x3", "wgmma_split.cuh",
                 "    publish_to_tensor_cores();\n", "", "did not publish"},
        Mutation{"published_after_the_arrival", "cuda_wgmma_bf16x3", "wgmma_split.cuh",
                 "    publish_to_tensor_cores();\n    barrier_arrive(ring.full_barrier());\n",
                 "    barrier_arrive(ring.full_barrier());\n    publish_to_tensor_cores();\n",
                 "did not publish"},
        Mutation{"slots_are_not_awaited", "cuda_wgmma_bf16x3", "wgmma_fetch.cuh",
                 "        wait_for_slot();\n", "", anything_wrong},
        Mutation{"raw_planes_are_not_awaited", "cuda_wgmma_bf16x3", "wgmma_split.cuh",
                 "    barrier_wait(Ring::raw_barrier_of(ring.slot), ring.parity);\n", "",
                 anything_wrong},
        Mutation{"full_planes_are_not_awaited", "cuda_wgmma_bf16x3", "wgmma_double.cuh",
                 "    barrier_wait(ring.full_barrier(), ring.parity);\n", "", anything_wrong},
        Mutation{"weights_are_not_awaited", "cuda_wgmma_bf16x3", "wgmma_double.cuh",
                 "  barrier_wait(shared_address(&head()->weights), 0);\n", "", anything_wrong},
        Mutation{"products_are_not_awaited", "cuda_wgmma_bf16x3", "wgmma_products.cuh",
                 "  wgmma_end();\n", "  wgmma_commit();\n", anything_wrong},
        Mutation{"scaled_products_are_not_awaited", "cuda_wgmma_fp16x3", "wgmma_products.cuh",
                 "    wgmma_wait<2>();\n", "    wgmma_wait<3>();\n", anything_wrong},
        Mutation{"planes_are_released_early", "cuda_wgmma_bf16x3", "wgmma_double.cuh",
                 "      if (i + 1 == end) {\n", "      if (i == begin) {\n", anything_wrong},
        Mutation{"the_lock_is_kept", "cuda_wgmma_bf16x3", "wgmma_double.cuh",
                 "      end_products();\n", "", "deadlock.*asleep"},
        Mutation{"nobody_releases", "cuda_wgmma_bf16x3", "wgmma_double.cuh",
                 "        release(first);\n", "", "deadlock"},
        Mutation{"one_arrival_too_many", "cuda_wgmma_bf16x3", "wgmma_double.cuh",
                 "head()->full) + 8 * i, splitters)", "head()->full) + 8 * i, splitters + 1)",
                 "deadlock"},
        Mutation{"lanes_do_not_wait_for_each_other", "cuda_wgmma_bf16x3", "wgmma_split.cuh",
                 "    __syncwarp();\n    store_shared(to, high[0]", "    store_shared(to, high[0]",
                 anything_wrong},
        Mutation{"splitters_do_not_meet", "cuda_wgmma_tf32", "wgmma_split.cuh",
                 "    named_barrier_sync<splitters>(splitters_barrier);\n    // 16", "    // 16",
                 anything_wrong},
        Mutation{"the_neighbour_is_another", "cuda_wgmma_bf16", "wgmma_epilogue.cuh",
                 "((quarter + 1) & 3)", "((quarter + 2) & 3)", anything_wrong},
        Mutation{"boxes_are_misaligned", "cuda_wgmma_bf16", "wgmma_fetch.cuh",
                 "item.w0, 0, item.h0", "item.w0 + 1, 0, item.h0", "no multiple of 16"}),
    [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace fusebench
