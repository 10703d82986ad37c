// What the cuDNN variants decide without a device. Catches a plan's number read off by one, a library found
// against the user's word, a view handed to an engine that ignores strides, a batch to one that computes its
// first item only, a bias handed over where there is none, a plan that gives other bits each time, and a problem
// that cuDNN has no engine for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/cuda/cudnn/cudnn_library.hpp"
#include "harness/device/cuda/cudnn/cudnn_plans.hpp"
#include "harness/device/cuda/cudnn/cudnn_reason.hpp"
#include "reference/conv_transpose3d_residual.hpp"
#include "reference/residual_epilogue.hpp"
#include "variants/conv_transpose3d_residual/cudnn_graphs.hpp"
#include "variants/conv_transpose3d_residual/cudnn_variant.hpp"

namespace fusebench {
namespace {

using conv_transpose3d_residual::fused_parities;
using conv_transpose3d_residual::fused_planes;
using conv_transpose3d_residual::Layout;
using conv_transpose3d_residual::Parity;
using conv_transpose3d_residual::transposed_convolution;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Made from what the driver says of an H200.
constexpr const char* h200 =
    R"({"deviceName":"NVIDIA H200","name":"NVIDIA H200","cudaDeviceId":0,"deviceId":0,"deviceVer":900,
"driverVer":13000,"multiProcessorCount":132,"smClockRateKHz":1980000,"memClockRateKHz":3201000,
"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,
"l2CacheSize":62914560,"warpSize":32,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":232448,
"reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"pciDeviceId":0,"maxCtasPerSM":32,
"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"isTccDriver":0,"supportCoopLaunch":1,
"totalGlobalMem":150000000000})";

ConvTranspose3d doubling(const char* sizes) {
  return parse_conv_transpose3d(std::string(sizes) + ",k=3,s=2,p=1,op=1");
}

std::vector<std::string> stored(const CudnnDescription& graph) {
  std::vector<std::string> names;
  for (const auto& node : graph.nodes()) {
    if (node.stored) names.push_back(node.name);
  }
  return names;
}

TEST(CudnnLibrary, IsTheChosenOneAndNoOther) {
  EXPECT_THAT(cudnn_candidates("/opt/libcudnn.so.9", "/usr/lib"),
              ElementsAre("/opt/libcudnn.so.9"));
  EXPECT_THAT(cudnn_candidates("", "/usr/lib"),
              ElementsAre("libcudnn.so.9", "/usr/lib/libcudnn.so.9"));
  EXPECT_THAT(cudnn_candidates("", ""), ElementsAre("libcudnn.so.9"));
}

TEST(CudnnPlans, ANumberMeansTheLastPlanOfAGraphThatHasFewer) {
  EXPECT_THAT(chosen_cudnn_plans({9, 1, 4}, 0), ElementsAre(0, 0, 0));
  EXPECT_THAT(chosen_cudnn_plans({9, 1, 4}, 8), ElementsAre(8, 0, 3));
  EXPECT_THAT(
      [] {
        (void)chosen_cudnn_plans({9, 1, 4}, 9);
      },
      ThrowsMessage<Unavailable>(HasSubstr("cuDNN offers 9 plans")));
  EXPECT_THAT([] { (void)chosen_cudnn_plans({1}, 1); },
              ThrowsMessage<Unavailable>(HasSubstr("cuDNN offers 1 plan,")));
}

// A search's log and wisdom hold for one library only, since plan=5 of another may be another plan.
TEST(CudnnPlans, CountWithTheVersionOfTheirLibraryAndNothingElseDoes) {
  const auto missing = cudnn_missing();
  if (missing) GTEST_SKIP() << *missing;
  DeviceTraits device;
  device.toolkit = "NVRTC 1";
  int counted = 0;
  for (const char* op : {"residual_epilogue", "conv_transpose3d_residual"}) {
    for (const Variant* variant : registry().variants(op)) {
      const auto& parameters = variant->info().parameters.parameters();
      const bool counts = std::any_of(parameters.begin(), parameters.end(),
                                      [](const Parameter& one) { return one.name == "plan"; });
      counted += counts;
      EXPECT_EQ(toolkit_of(*variant, device),
                counts ? "NVRTC 1, cuDNN " + cudnn_version() : "NVRTC 1")
          << variant->info().name;
    }
  }
  EXPECT_EQ(counted, 11);
}

TEST(CudnnPlans, AreDescribedInOneLine) {
  EXPECT_EQ(describe_cudnn_plans("9.19.0", {{"eng3_k2=1", 134'200'000}}),
            "cuDNN 9.19.0, engine eng3_k2=1, workspace 134.2 MB");
  EXPECT_EQ(describe_cudnn_plans("9.19.0", {{"a", 1'000'000}, {"b", 0}, {"a", 500'000}}),
            "cuDNN 9.19.0, engines a b, workspace 1.5 MB");
}

TEST(CudnnReason, IsTheFirstOfManyInOneLine) {
  EXPECT_EQ(cudnn_reason("No valid engine configs for _\n{\"engineId\":9}\nWarning: "
                         "CUDNN_STATUS_X; Reason: is_3d\n\nWarning: CUDNN_STATUS_X; Reason: outer"),
            "CUDNN_STATUS_X; Reason: is_3d");
  EXPECT_EQ(cudnn_reason("two\n\t lines\n"), "two lines");
  EXPECT_EQ(cudnn_reason(""), "");
  EXPECT_EQ(cudnn_reason(std::string(1000, 'x')).size(), 303);
}

TEST(CudnnTensor, StridesSayTheLayout) {
  EXPECT_THAT(channels_first({2, 3, 4, 5, 6}).strides, ElementsAre(360, 120, 30, 6, 1));
  EXPECT_THAT(channels_last({2, 3, 4, 5, 6}).strides, ElementsAre(360, 1, 90, 18, 3));
  EXPECT_THAT(channels_last({7, 3, 1, 1}).strides, ElementsAre(3, 1, 3, 3));
}

TEST(CudnnGraphs, ABiasIsAnInputOnlyWhereThereIsOne) {
  EXPECT_THAT(stored(fused_planes(doubling("n=1,ci=4,co=4,d=2,h=2,w=2")).front()),
              ElementsAre("x", "w", "conv_bias", "b", "y"));
  EXPECT_THAT(stored(fused_planes(doubling("n=1,ci=4,co=4,d=2,h=2,w=2,bias=0")).front()),
              ElementsAre("x", "w", "b", "y"));
}

TEST(CudnnGraphs, ASinglePlaneHasNoPairs) {
  EXPECT_EQ(fused_planes(doubling("n=2,ci=4,co=4,d=1,h=2,w=2")).size(), 2);
  EXPECT_EQ(fused_planes(doubling("n=2,ci=4,co=4,d=2,h=2,w=2")).size(), 3);
}

TEST(CudnnGraphs, TheEightParitiesAreOfOneSizeAndCoverEachTapOnce) {
  const auto graphs = fused_parities(doubling("n=2,ci=3,co=5,d=2,h=3,w=4"), 4, CudnnType::float32);
  ASSERT_EQ(graphs.size(), 8);
  std::int64_t taps = 0;
  for (std::size_t number = 0; number < 8; ++number) {
    taps += Parity(static_cast<int>(number)).taps();
    EXPECT_THAT(graphs[number].nodes().back().tensor.extents, ElementsAre(2, 8, 2, 3, 4));
  }
  EXPECT_EQ(taps, 27);
}

TEST(CudnnGraphs, NoTensorOfAFusedOneIsAView) {
  const ConvTranspose3d sizes = doubling("n=2,ci=3,co=5,d=2,h=3,w=4");
  std::vector<CudnnDescription> graphs = fused_planes(sizes);
  for (const CudnnType type : {CudnnType::float32, CudnnType::bfloat16}) {
    for (CudnnDescription& graph : fused_parities(sizes, 8, type)) {
      graphs.push_back(std::move(graph));
    }
  }
  for (const CudnnDescription& graph : graphs) {
    for (const auto& node : graph.nodes()) {
      if (!node.stored) continue;
      EXPECT_EQ(node.tensor.strides, channels_last(node.tensor.extents).strides) << node.name;
    }
  }
}

TEST(CudnnGraphs, AnOutputPaddingAsWideAsTheStrideIsRefused) {
  using conv_transpose3d_residual::refuses_wide_output_padding;
  EXPECT_FALSE(refuses_wide_output_padding(doubling("n=1,ci=1,co=1,d=1,h=1,w=1")));
  EXPECT_TRUE(refuses_wide_output_padding(
      parse_conv_transpose3d("n=1,ci=4,co=4,d=4,h=3,w=5,k=3,p=1,dil=3,op=2")));
}

// Each item is a call of its own, which wants its tensors at multiples of 16 bytes.
TEST(CudnnPointwiseGraph, RefusesABatchOfItemsThatAreNoMultipleOf16Bytes) {
  const Operator& op = registry().find_operator(residual_epilogue::operator_name);
  const Variant& variant =
      registry().find_variant(residual_epilogue::operator_name, "cudnn_pointwise_graph");
  const auto refusal = [&](const char* sizes) { return variant.refuses(op.parse_problem(sizes)); };
  EXPECT_EQ(refusal("1,1,1,1,3"), std::nullopt);
  EXPECT_EQ(refusal("2,3,1,1,4"), std::nullopt);
  EXPECT_EQ(refusal("2,3,1,1,2"), "needs items of a multiple of 16 bytes, not 24");
}

// Engines that are compiled when they run want the driver before they say a word; these want nothing.
// For the dilated problem cuDNN 9.19 has none that gives the same bits each time, in either layout.
TEST(CudnnEngines, ThereAreSomeForEveryProblemOrOnlyThoseThatGiveOtherBits) {
  if (const auto reason = cudnn_missing()) GTEST_SKIP() << *reason;
  const Operator& op = registry().find_operator(conv_transpose3d_residual::operator_name);
  int without = 0;
  for (const Problem& problem : op.awkward_problems(Battery::quick)) {
    for (const Layout layout : {Layout::channels_first, Layout::channels_last}) {
      const CudnnDescription graph = transposed_convolution(conv_transpose3d_of(problem), layout);
      try {
        const auto exact = cudnn_offers(h200, graph, CudnnMath::float32);
        const auto any = cudnn_offers(h200, graph, CudnnMath::tf32);
        EXPECT_FALSE(exact.empty()) << problem.to_string();
        EXPECT_GE(any.size(), exact.size()) << problem.to_string();
      } catch (const Unavailable& reason) {
        EXPECT_THAT(reason.what(), HasSubstr(" 0 round operands or sums")) << problem.to_string();
        ++without;
      }
    }
  }
  EXPECT_LE(without, 2);
}

// By its name, which another version may have given to another.
TEST(CudnnEngines, TheOneThatGivesOtherBitsEachTimeIsNotOffered) {
  if (const auto reason = cudnn_missing()) GTEST_SKIP() << *reason;
  if (cudnn_version() != "9.19.0") GTEST_SKIP() << "cuDNN " << cudnn_version();
  const CudnnDescription graph =
      transposed_convolution(doubling("n=2,ci=4,co=6,d=3,h=4,w=5"), Layout::channels_first);
  for (const CudnnMath math : {CudnnMath::float32, CudnnMath::tf32}) {
    for (const CudnnOffer& offer : cudnn_offers(h200, graph, math)) {
      EXPECT_FALSE(offer.name.starts_with("eng25")) << offer.name;
    }
  }
}

TEST(CudnnEngines, AStridedConvolutionInThreeDimensionsIsNotFused) {
  if (const auto reason = cudnn_missing()) GTEST_SKIP() << *reason;
  CudnnDescription graph;
  const auto x = graph.input("x", channels_last({1, 32, 4, 8, 8}));
  const auto w = graph.input("w", channels_last({32, 64, 3, 3, 3}));
  const auto c = graph.convolve_backward(x, w, {{1, 1, 1}, {1, 1, 1}, {2, 2, 2}, {1, 1, 1}},
                                         {1, 64, 8, 16, 16});
  graph.output(graph.add(c, c), "y", channels_last({1, 64, 8, 16, 16}));
  EXPECT_THAT([&] { (void)cudnn_offers(h200, graph, CudnnMath::tf32); },
              ThrowsMessage<Unavailable>(HasSubstr("has no engine for this")));
}

}  // namespace
}  // namespace fusebench
