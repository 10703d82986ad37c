// The reference against PyTorch's own results, bit for bit. Compiled a second time with flags that let
// the compiler contract, to catch a reference that depends on how it was compiled.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "reference/residual_epilogue.hpp"
#include "tests/npy.hpp"

namespace fusebench::residual_epilogue {
namespace {

using test::golden_folder;
using test::read_npy;

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

void expect_bit_equal(const std::vector<float>& c, const std::vector<float>& b,
                      const std::vector<float>& y) {
  ASSERT_EQ(c.size(), y.size());
  ASSERT_EQ(b.size(), c.size());
  ASSERT_FALSE(c.empty());
  for (std::size_t i = 0; i < c.size(); ++i) {
    EXPECT_TRUE(same(exact_order(c[i], b[i]), y[i]))
        << "element " << i << ": c=" << c[i] << " b=" << b[i] << " gives "
        << exact_order(c[i], b[i]) << ", PyTorch " << y[i];
  }
}

TEST(Golden, SpecialValuesAreBitEqualToPyTorchOnCpuAndGpu) {
  const std::string folder = golden_folder() + "/special/";
  for (const char* out : {"out_cpu_f32.npy", "out_gpu_f32.npy"}) {
    expect_bit_equal(read_npy<float>(folder + "c.npy"), read_npy<float>(folder + "b.npy"),
                     read_npy<float>(folder + out));
  }
}

TEST(Golden, ARandomChainIsBitEqualToPyTorchOnGpu) {
  const std::string folder = golden_folder() + "/random_chain/";
  expect_bit_equal(read_npy<float>(folder + "c.npy"), read_npy<float>(folder + "b.npy"),
                   read_npy<float>(folder + "out_gpu_f32.npy"));
}

class GoldenCase : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const {
    return golden_folder() + "/" + GetParam() + "/" + name + ".npy";
  }
};

// The extents are read from the header, so that a wrong guess at the layout cannot pass.
std::size_t spatial_of(const std::string& path) {
  const std::vector<std::int64_t> shape = test::npy_shape(path);
  if (shape.size() != 5) throw std::runtime_error(path + " is not five-dimensional");
  return static_cast<std::size_t>(shape[2] * shape[3] * shape[4]);
}

TEST_P(GoldenCase, Float32IsBitEqualToPyTorch) {
  const auto c = read_npy<float>(path("conv_f32"));
  const auto b = read_npy<float>(path("bias"));
  const auto y = read_npy<float>(path("out_f32"));
  ASSERT_EQ(c.size(), y.size());
  const std::size_t spatial = spatial_of(path("conv_f32"));
  for (std::size_t i = 0; i < c.size(); ++i) {
    const float bias = b[i / spatial % b.size()];
    EXPECT_TRUE(same(exact_order(c[i], bias), y[i])) << "element " << i;
  }
}

TEST_P(GoldenCase, Float64AgreesWithPyTorchTo1e12) {
  const auto c = read_npy<double>(path("conv_f64"));
  const auto b = read_npy<float>(path("bias"));
  const auto y = read_npy<double>(path("out_f64"));
  ASSERT_EQ(c.size(), y.size());
  const std::size_t spatial = spatial_of(path("conv_f64"));
  for (std::size_t i = 0; i < c.size(); ++i) {
    const double value = oracle_value(c[i], b[i / spatial % b.size()]);
    EXPECT_NEAR(value, y[i], 1e-12 * std::abs(y[i])) << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(PyTorch, GoldenCase,
                         testing::Values("groups2", "k2s2", "main_small", "odd_channels",
                                         "single_voxel", "stride1_nopad"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace fusebench::residual_epilogue
