// How input channels are shared out to launches of the wgmma kernels. Catches a channel that is left out or taken twice,
// passes that no kernel was compiled for, and more of them than the contracts allow.
#include "variants/conv_transpose3d_residual/wgmma_passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "harness/core/registry.hpp"
#include "reference/conv_transpose3d.hd.hpp"
#include "reference/conv_transpose3d_residual.hpp"
#include "variants/conv_transpose3d_residual/wgmma_work.hd.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

constexpr const char* names[] = {"cuda_wgmma_bf16x3", "cuda_wgmma_fp16x3", "cuda_wgmma_tf32",
                                 "cuda_wgmma_bf16", "cuda_wgmma_fp16"};

const Variant& variant(const char* name) { return registry().find_variant(operator_name, name); }

Problem problem_of_channels(std::int64_t in_channels) {
  return registry()
      .find_operator(operator_name)
      .parse_problem("n=1,ci=" + std::to_string(in_channels) +
                     ",co=64,d=2,h=2,w=2,k=3,s=2,p=1,op=1");
}

TEST(WgmmaPasses, TakeEachInputChannelOnceInOrderAndNoMoreThanATileAtOnce) {
  for (std::int64_t in_channels = 1; in_channels <= most_in_channels; ++in_channels) {
    std::int64_t next = 0;
    for (const Pass& pass : passes_of(in_channels)) {
      ASSERT_EQ(pass.first_channel, next);
      ASSERT_GE(pass.channels, 1);
      ASSERT_LE(pass.channels, tile_channels);
      next += pass.channels;
    }
    ASSERT_EQ(next, in_channels);
  }
}

TEST(WgmmaPasses, OnlyTheFirstStartsTheSumsAndOnlyTheLastFinishesThem) {
  for (std::int64_t in_channels = 1; in_channels <= 400; ++in_channels) {
    const std::vector<Pass> passes = passes_of(in_channels);
    if (in_channels <= tile_channels) {
      ASSERT_EQ(passes.size(), 1U);
      ASSERT_EQ(passes[0].kind, PassKind::only);
      continue;
    }
    for (std::size_t i = 0; i < passes.size(); ++i) {
      ASSERT_EQ(passes[i].kind, i == 0                  ? PassKind::first
                                : i + 1 < passes.size() ? PassKind::middle
                                                        : PassKind::last);
    }
  }
}

TEST(WgmmaPasses, AKernelIsCompiledForEachKindThatAProblemTakesAndForNoOther) {
  for (const std::int64_t in_channels : {1, 32, 33, 64, 65, 96, 97, 2048}) {
    const std::vector<PassKind> kinds = pass_kinds_of(in_channels);
    for (const Pass& pass : passes_of(in_channels)) {
      EXPECT_EQ(std::count(kinds.begin(), kinds.end(), pass.kind), 1) << in_channels;
    }
    for (const char* name : names) {
      const std::vector<KernelSpec> specs =
          variant(name).kernels(problem_of_channels(in_channels),
                                variant(name).info().parameters.default_configuration());
      ASSERT_EQ(specs.size(), kinds.size()) << name << ", " << in_channels;
      for (std::size_t i = 0; i < specs.size(); ++i) {
        const std::map<std::string, std::string> macros(specs[i].macros.begin(),
                                                        specs[i].macros.end());
        EXPECT_EQ(macros.at("PASS"), std::to_string(static_cast<int>(kinds[i]))) << name;
        EXPECT_EQ(specs[i].source, specs[0].source) << name;
      }
    }
  }
}

TEST(WgmmaPasses, MoreChannelsThanTheContractsCoverAreRefusedWithBothNumbers) {
  for (const char* name : names) {
    EXPECT_EQ(variant(name).refuses(problem_of_channels(33)), std::nullopt) << name;
    EXPECT_EQ(variant(name).refuses(problem_of_channels(2048)), std::nullopt) << name;
    EXPECT_EQ(variant(name).refuses(problem_of_channels(2049)),
              "needs at most 2048 input channels, not 2049")
        << name;
  }
}

// In units of u = 2^-24 of the sum of the products' sizes; docs/fused_kernel.md has the derivation. The worst of all
// roundings, of passes and of what one pass may lose, stays under float32's 32u and what it grows by.
TEST(WgmmaPasses, TheWorstThatTheyRoundIsWithinFloat32sBound) {
  for (std::int64_t in_channels = tile_channels + 1; in_channels <= most_in_channels;
       ++in_channels) {
    const std::vector<Pass> passes = passes_of(in_channels);
    for (const std::int64_t taps : {1, 2, 4, 8}) {
      const double scaled_halves = 12.0;
      // Truncated by up to 2u of all for each 16 products, at worst.
      const double of_one_pass =
          scaled_halves + 2.0 * static_cast<double>(taps * tile_channels) / 16 + 1.0;
      const auto roundings = static_cast<double>(passes.size()) - 1.0;
      const std::int64_t products = taps * in_channels;
      const double bound = 32.0 * grown(1.0, static_cast<unsigned long long>(products));
      ASSERT_LE(of_one_pass + roundings, bound) << in_channels << " channels, " << taps << " taps";
    }
  }
}

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
