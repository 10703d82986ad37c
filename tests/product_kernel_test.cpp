// Kernels over products of parameters: known values, and which parameters have one.
#include "harness/tune/product_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fusebench {
namespace {

Value whole(std::int64_t value) { return value; }

SearchSpace space() {
  return SearchSpace({{"a", {whole(1), whole(2), whole(4), whole(8)}},
                      {"b", {whole(1), whole(2), whole(4)}},
                      {"zero", {whole(0), whole(1), whole(2)}},
                      {"pair", {whole(1), whole(2)}},
                      {"word", {std::string("x"), std::string("y"), std::string("z")}}},
                     std::vector<std::string>{});
}

TEST(ProductKernel, IsOfPositiveOrdinalParameters) {
  const SearchSpace of = space();
  EXPECT_TRUE(ProductKernel::is_magnitude(of, 0));
  EXPECT_TRUE(ProductKernel::is_magnitude(of, 1));
  for (std::size_t parameter = 2; parameter < 5; ++parameter) {
    EXPECT_FALSE(ProductKernel::is_magnitude(of, parameter)) << parameter;
  }
}

TEST(ProductKernel, SeesTheProductAlone) {
  const SearchSpace of = space();
  ProductKernel kernel(of, 0, 1);
  const std::vector<SearchSpace::Place> two_by_two = {1, 1, 0, 0, 0};
  const std::vector<SearchSpace::Place> four_by_one = {2, 0, 2, 1, 2};
  const std::vector<SearchSpace::Place> eight_by_four = {3, 2, 0, 0, 0};
  EXPECT_EQ(kernel.at(two_by_two, eight_by_four), 1.0F);  // without effect yet
  kernel.set(0.5, Smoothness::half);
  EXPECT_EQ(kernel.at(two_by_two, four_by_one), 1.0F);
  // 4 and 32 are three doublings apart, the range of a: a distance of 1, two lengths.
  EXPECT_NEAR(kernel.at(two_by_two, eight_by_four), std::exp(-2.0), 1e-6);
  EXPECT_EQ(kernel.at(four_by_one, eight_by_four), kernel.at(eight_by_four, four_by_one));
}

}  // namespace
}  // namespace fusebench
