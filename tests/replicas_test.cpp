// Several replicas as one row. Catches a failed replica behind good ones, and a time that no replica had.
#include "harness/cli/replicas.hpp"

#include <gmock/gmock.h>
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

std::vector<std::string> drifts(const std::vector<double>& medians, bool control = true) {
  std::vector<Record> records;
  for (std::size_t i = 0; i < medians.size(); ++i) {
    records.push_back(replica("copy", medians[i]));
    records.back().operator_name = control ? control_operator : "op";
    records.back().problem = "n=1";
    records.back().replica = static_cast<int>(i);
  }
  return drifts_of_controls(records, 0.005);
}

TEST(DriftsOfControls, AreToldWhereTheSecondHalfDiffersByTheLeastThatCounts) {
  using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::AllOf;
  EXPECT_THAT(drifts({1000, 1000, 1020, 1020}),
              ElementsAre(AllOf(HasSubstr("copy (n=1, cpu) was 2.00% slower in the second half"),
                                HasSubstr("1.02 us after 1.00 us"))));
  EXPECT_THAT(drifts({1020, 1020, 7, 1000, 1000}), ElementsAre(HasSubstr("2.00% faster")));
  EXPECT_THAT(drifts({1000, 1020}), ElementsAre(HasSubstr("slower")));
  EXPECT_THAT(drifts({1000, 1000, 1004, 1004}), IsEmpty());
  EXPECT_THAT(drifts({1000, 1020, 1020, 1000}), IsEmpty());  // to and fro
  EXPECT_THAT(drifts({1000}), IsEmpty());
  EXPECT_THAT(drifts({1000, 1000, 1020, 1020}, false),
              IsEmpty());  // no control: a variant's own affair
}

}  // namespace
}  // namespace fusebench
