// Several replicas as one row. Catches a failed replica behind good ones, and a time that no replica had.
#include "harness/cli/replicas.hpp"

#include <gtest/gtest.h>

namespace fusebench {
namespace {

Record replica(const char* variant, std::optional<double> median_ns,
               Outcome outcome = Outcome::passed) {
  Record record;
  record.variant = variant;
  record.median_ns = median_ns;
  record.outcome = outcome;
  return record;
}

TEST(TypicalReplicas, AreTheMedianOnesInTheOrderOfTheSeries) {
  const std::vector<Record> records = {replica("b", 5),  replica("a", 10), replica("b", 3),
                                       replica("a", 30), replica("b", 4),  replica("a", 20),
                                       replica("c", {}), replica("a", 40)};
  const std::vector<Record> rows = typical_replicas(records);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].variant, "b");
  EXPECT_EQ(rows[0].median_ns, 4);
  EXPECT_EQ(rows[1].variant, "a");
  EXPECT_EQ(rows[1].median_ns, 20);  // the lower of two: a time that was measured
  EXPECT_EQ(rows[2].variant, "c");
}

TEST(TypicalReplicas, ShowTheFirstThatDidNotPass) {
  const std::vector<Record> records = {replica("a", 10), replica("a", {}, Outcome::crashed),
                                       replica("a", {}, Outcome::wrong)};
  EXPECT_EQ(typical_replicas(records).at(0).outcome, Outcome::crashed);
  EXPECT_TRUE(typical_replicas({}).empty());
}

}  // namespace
}  // namespace fusebench
