// What is compiled ahead, and in which order. Catches a kernel that is compiled twice, an order that is waited for though it was taken
// back, and one that is forgotten. No process is started here: nothing that was ordered begins.
#include "harness/session/foundry.hpp"

#include <gtest/gtest.h>

#include <set>

#include "harness/core/registry.hpp"

namespace fusebench {
namespace {

Problem official(const Operator& op) { return op.parse_problem("official"); }

// A CUDA variant of several configurations with kernels; those need no device to be named.
const Variant* any_with_kernels() {
  for (const Operator* op : registry().operators()) {
    for (const Variant* variant : registry().variants(op->name())) {
      const auto all = variant->info().parameters.all();
      if (all.size() > 3 && !kernels_key({variant, official(*op), all.front()}).empty())
        return variant;
    }
  }
  return nullptr;
}

class FoundryTest : public testing::Test {
 protected:
  void SetUp() override {
    variant_ = any_with_kernels();
    if (variant_ == nullptr) GTEST_SKIP() << "this build has no CUDA variants";
    problem_ = official(registry().find_operator(variant_->info().operator_name));
    std::set<std::string> keys;
    for (const Configuration& one : variant_->info().parameters.all()) {
      if (keys.insert(kernels_key({variant_, problem_, one})).second) different_.push_back(one);
    }
    ASSERT_GT(different_.size(), 2U);
  }
  [[nodiscard]] Foundry::Wanted wanted(std::size_t i) const {
    return {variant_, problem_, different_[i]};
  }
  // How many are still to be compiled.
  std::size_t left() {
    std::size_t count = 0;
    foundry_.drain([&](std::size_t now) {
      count = now;
      return false;
    });
    return count;
  }

  const Variant* variant_ = nullptr;
  Problem problem_;
  std::vector<Configuration> different_;
  Foundry foundry_{parse_architecture("sm_90a"), {}, 0, 0, std::chrono::seconds(1),
                   [] { return false; }};
};

TEST_F(FoundryTest, OrdersEachKernelOnce) {
  foundry_.order({wanted(0), wanted(1), wanted(0)});
  EXPECT_EQ(left(), 2U);
}

TEST_F(FoundryTest, ForgetsWhatIsNotOrderedAgain) {
  foundry_.order({wanted(0), wanted(1)});
  foundry_.order({wanted(2)});
  EXPECT_EQ(left(), 1U);
  foundry_.order({});
  EXPECT_EQ(left(), 0U);
}

TEST_F(FoundryTest, LeavesWhatIsTakenToWhoeverTakesIt) {
  foundry_.order({wanted(0), wanted(1)});
  EXPECT_FALSE(foundry_.knows(wanted(0)));
  EXPECT_EQ(foundry_.take(wanted(0)), 0.0) << "nothing was compiled here";
  EXPECT_TRUE(foundry_.knows(wanted(0)));
  EXPECT_EQ(left(), 1U);
  foundry_.order({wanted(0)});
  EXPECT_EQ(left(), 0U);
}

}  // namespace
}  // namespace fusebench
