// Tuning parameters: defaults, products, constraints and what the command line may name. Catches
// configurations that are left out or invented, values that are silently ignored, and unhelpful refusals.
#include "harness/core/parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Six combinations, of which the constraint turns away (512, streaming).
ParameterSpace space() {
  return ParameterSpace(
      {{"block", integers({128, 256, 512}), "256"}, {"load", {"cached", "streaming"}, "cached"}},
      {"block < 512 or load == 'cached'"});
}

std::vector<std::string> texts(const std::vector<Configuration>& configurations) {
  std::vector<std::string> found;
  for (const Configuration& c : configurations) found.push_back(c.to_string());
  return found;
}

TEST(Configuration, GivesTextsAndWholeNumbersAndNamesWhatIsMissing) {
  const Configuration c({{"block", "256"}, {"load", "cached"}});
  EXPECT_EQ(c.integer("block"), 256);
  EXPECT_EQ(c.text("load"), "cached");
  EXPECT_EQ(c.to_string(), "block=256,load=cached");
  EXPECT_EQ(Configuration().to_string(), "default");
  EXPECT_THAT([&] { (void)c.integer("load"); }, ThrowsMessage<Error>(HasSubstr("'cached'")));
  EXPECT_THAT([&] { (void)c.text("store"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("block=256"), HasSubstr("'store'"))));
}

TEST(ParameterSpace, WithoutParametersHasExactlyTheDefault) {
  const ParameterSpace empty;
  EXPECT_THAT(texts(empty.all()), ElementsAre("default"));
  EXPECT_THAT(texts(empty.select("default")), ElementsAre("default"));
  EXPECT_THAT(texts(empty.select("all")), ElementsAre("default"));
  EXPECT_EQ(empty.parse(""), empty.default_configuration());
  EXPECT_THAT([&] { (void)empty.parse("block=1"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("'block'"), HasSubstr("none"))));
}

TEST(ParameterSpace, AllIsTheProductLessTheConstraintWithTheLastFastest) {
  EXPECT_THAT(texts(space().all()), ElementsAre("block=128,load=cached", "block=128,load=streaming",
                                                "block=256,load=cached", "block=256,load=streaming",
                                                "block=512,load=cached"));
}

TEST(ParameterSpace, RefusesADefaultThatIsNoValueANameTwiceAndADefaultAgainstItsConstraint) {
  EXPECT_THAT(
      [] {
        ParameterSpace({{"block", {"1", "2"}, "3"}});
      },
      ThrowsMessage<Error>(AllOf(HasSubstr("'block'"), HasSubstr("'3'"))));
  EXPECT_THAT(
      [] {
        ParameterSpace({{"block", {"1"}, "1"}, {"block", {"2"}, "2"}});
      },
      ThrowsMessage<Error>(HasSubstr("'block' is declared twice")));
  EXPECT_THAT(
      [] {
        ParameterSpace({{"block", {"1", "2"}, "1"}}, {"block != 1"});
      },
      ThrowsMessage<Error>(HasSubstr("'block=1'")));
}

TEST(Parse, ChangesTheDefaultInTheDeclaredOrder) {
  EXPECT_EQ(space().parse("").to_string(), "block=256,load=cached");
  EXPECT_EQ(space().parse("load=streaming").to_string(), "block=256,load=streaming");
  EXPECT_EQ(space().parse("load=streaming,block=128").to_string(), "block=128,load=streaming");
}

TEST(Parse, ReadsBackEveryConfigurationOfTheSpace) {
  for (const Configuration& c : space().all()) EXPECT_EQ(space().parse(c.to_string()), c);
}

TEST(Parse, NamesTheKeyOrValueThatIsWrongAndWhatThereIs) {
  EXPECT_THAT([] { (void)space().parse("blocks=256"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("'blocks'"), HasSubstr("block, load"))));
  EXPECT_THAT([] { (void)space().parse("block=64"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("'64'"), HasSubstr("128, 256, 512"))));
  EXPECT_THAT([] { (void)space().parse("block"); },
              ThrowsMessage<Error>(HasSubstr("'block' is not of the form key=value")));
  EXPECT_THAT([] { (void)space().parse("=256"); }, ThrowsMessage<Error>(HasSubstr("'=256'")));
  EXPECT_THAT(
      [] { (void)space().parse("block=512,load=streaming"); },
      ThrowsMessage<Error>(AllOf(HasSubstr("block=512,load=streaming"), HasSubstr("constraint"))));
  // Stars and choices are for select alone.
  EXPECT_THROW((void)space().parse("block=*"), Error);
  EXPECT_THROW((void)space().parse("block=128|256"), Error);
}

// n is a property: of the problem, or of the device.
ParameterSpace with_property() {
  return ParameterSpace({{"block", integers({128, 256, 512}), "256"}},
                        {"block <= n", "block != m"});
}

TEST(Constraint, CountsWhereItsPropertiesAreGivenAndIsQuotedWithThem) {
  const Properties properties = {{"n", std::int64_t{256}}};
  EXPECT_THAT(texts(with_property().all()), ElementsAre("block=128", "block=256", "block=512"));
  EXPECT_THAT(texts(with_property().all(properties)), ElementsAre("block=128", "block=256"));
  EXPECT_EQ(with_property().parse("block=512").to_string(), "block=512");
  EXPECT_THAT([&] { (void)with_property().parse("block=512", properties); },
              ThrowsMessage<Error>(AllOf(HasSubstr("'block <= n'"), HasSubstr("n is 256"))));
  EXPECT_THAT([&] { (void)with_property().select("block=512", properties); },
              ThrowsMessage<Error>(AllOf(HasSubstr("'block <= n'"), HasSubstr("n is 256"))));
  EXPECT_EQ(with_property().broken_by(with_property().default_configuration(), properties), "");
}

TEST(Constraint, IsRefusedWhereItIsNoExpression) {
  EXPECT_THROW(ParameterSpace({{"block", {"1"}, "1"}}, {"block <"}), Error);
  EXPECT_THROW(ParameterSpace({{"block", {"1"}, "1"}}, {"block / 0 == 1"}), Error);
}

TEST(Select, KnowsDefaultAndAll) {
  EXPECT_THAT(texts(space().select("default")), ElementsAre("block=256,load=cached"));
  EXPECT_EQ(space().select("all"), space().all());
}

TEST(Select, TakesAStarForEveryValueAndKeepsOtherDefaults) {
  EXPECT_THAT(
      texts(space().select("block=*")),
      ElementsAre("block=128,load=cached", "block=256,load=cached", "block=512,load=cached"));
  EXPECT_EQ(space().select("block=*,load=*"), space().all());
}

TEST(Select, TakesChoicesBetweenBarsAndLeavesOutWhatTheConstraintTurnsAway) {
  EXPECT_THAT(texts(space().select("block=128|512")),
              ElementsAre("block=128,load=cached", "block=512,load=cached"));
  EXPECT_THAT(texts(space().select("block=128|512,load=streaming")),
              ElementsAre("block=128,load=streaming"));
}

TEST(Select, RefusesWhatLeavesNothingAndWrongChoices) {
  EXPECT_THAT([] { (void)space().select("block=512,load=streaming"); },
              ThrowsMessage<Error>(HasSubstr("block=512,load=streaming")));
  for (const char* text :
       {"block=128|", "block=|128", "block=128||256", "block=128|64", "block="}) {
    EXPECT_THROW((void)space().select(text), Error) << text;
  }
  EXPECT_THROW((void)space().select("blocks=*"), Error);
}

// "block=128,block=256" can only be a mistake, and which one won would be a guess.
TEST(ParseAndSelect, RefuseAKeyGivenTwice) {
  EXPECT_THROW((void)space().parse("block=128,block=256"), Error);
  EXPECT_THROW((void)space().select("block=128,block=256"), Error);
}

TEST(ParseKeyValues, KeepsOrderAndEverythingAfterTheFirstEqualsSign) {
  EXPECT_THAT(parse_key_values("x", "a=1,b=c=d,e="),
              ElementsAre(std::pair("a", "1"), std::pair("b", "c=d"), std::pair("e", "")));
  EXPECT_TRUE(parse_key_values("x", "").empty());
}

TEST(ParseKeyValues, RefusesAnEmptyPieceWhereverItStands) {
  for (const char* text : {",", ",a=1", "a=1,,b=2", "a=1,"}) {
    EXPECT_THAT([&] { (void)parse_key_values("--problem", text); },
                ThrowsMessage<Error>(HasSubstr("--problem")))
        << text;
  }
}

TEST(ParseInteger, ReadsTheWhole64BitRangeAndNothingElse) {
  EXPECT_EQ(parse_integer("x", "9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer("x", "-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const char* text : {"", " 1", "1 ", "+1", "1.0", "1e3", "0x10", "9223372036854775808"}) {
    EXPECT_THAT([&] { (void)parse_integer("width", text); },
                ThrowsMessage<Error>(AllOf(HasSubstr("width"), HasSubstr(text))))
        << text;
  }
}

}  // namespace
}  // namespace fusebench
