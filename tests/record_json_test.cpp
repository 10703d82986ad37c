// Records and outcomes as text, on their way between processes. Catches a field that is left out, digits
// lost, and a NaN or an infinity that comes back as an absent figure.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "harness/core/error.hpp"
#include "harness/core/record_fields.hpp"

namespace fusebench {
namespace {

TEST(Outcomes, ReadWhatTheyWriteAndNothingElse) {
  for (const char* text : {"passed", "wrong", "failed", "crashed", "timed_out", "unavailable"}) {
    EXPECT_EQ(to_string(parse_outcome(text)), text);
  }
  for (const char* text : {"exact_order", "float32", "bf16x3", "tf32", "fp16", "bf16"}) {
    EXPECT_EQ(to_string(parse_precision(text)), text);
  }
  for (const char* text : {"cpu", "cuda"}) EXPECT_EQ(to_string(parse_device_kind(text)), text);
  EXPECT_THROW((void)parse_outcome("Passed"), Error);
  EXPECT_THROW((void)parse_precision(""), Error);
  EXPECT_THROW((void)parse_device_kind("gpu"), Error);
}

// A record in which no field holds its default value, so that a field left out shows.
Record full_record() {
  Record record;
  int next = 2;
  visit_fields(record, [&](const char* name, auto& field) {
    using T = std::remove_reference_t<decltype(field)>;
    ++next;
    if constexpr (std::is_same_v<T, std::string>) {
      field = std::string(name) + " \"quoted\", é\n";
    } else if constexpr (std::is_same_v<T, std::optional<double>>) {
      field = next + 0.1;
    } else if constexpr (std::is_same_v<T, std::optional<bool>> || std::is_same_v<T, bool>) {
      field = true;
    } else if constexpr (std::is_enum_v<T>) {
      field = static_cast<T>(1);
    } else {
      field = static_cast<T>(next);
    }
  });
  record.seed = std::numeric_limits<std::uint64_t>::max();
  record.precision = Precision::bf16x3;
  return record;
}

Record through_json(const Record& record) {
  return nlohmann::json::parse(nlohmann::json(record).dump()).get<Record>();
}

void expect_same_fields(const Record& a, const Record& b) {
  std::vector<nlohmann::json> texts;
  visit_fields(a, [&](const char*, const auto& field) {
    if constexpr (requires { field.has_value(); }) {
      texts.push_back(field ? nlohmann::json(*field) : nlohmann::json("absent"));
    } else {
      texts.emplace_back(field);
    }
  });
  std::size_t i = 0;
  visit_fields(b, [&](const char* name, const auto& field) {
    if constexpr (requires { field.has_value(); }) {
      EXPECT_EQ(texts[i], field ? nlohmann::json(*field) : nlohmann::json("absent")) << name;
    } else {
      EXPECT_EQ(texts[i], nlohmann::json(field)) << name;
    }
    ++i;
  });
}

TEST(RecordAsJson, KeepsEveryFieldOfAFullRecordAndOfAnEmptyOne) {
  expect_same_fields(full_record(), through_json(full_record()));
  expect_same_fields(Record{}, through_json(Record{}));
}

TEST(RecordAsJson, KeepsNotANumberAndInfinitiesApartFromAbsentFigures) {
  Record record;
  record.max_abs_error = std::numeric_limits<double>::infinity();
  record.max_rel_error = -std::numeric_limits<double>::infinity();
  record.cv = std::numeric_limits<double>::quiet_NaN();
  record.median_ns = 0.1 + 0.2;
  record.within_1e4 = false;
  const Record back = through_json(record);
  EXPECT_EQ(back.max_abs_error, record.max_abs_error);
  EXPECT_EQ(back.max_rel_error, record.max_rel_error);
  ASSERT_TRUE(back.cv.has_value());
  EXPECT_TRUE(std::isnan(*back.cv));
  EXPECT_EQ(back.median_ns, record.median_ns);
  EXPECT_EQ(back.within_1e4, std::optional(false));
  EXPECT_FALSE(back.q1_ns.has_value());
  EXPECT_FALSE(back.bit_equal_percent.has_value());
}

TEST(SampleAsJson, KeepsItsThreeFigures) {
  const auto back = nlohmann::json::parse(nlohmann::json(Sample{0.1, 1980.5, true}).dump());
  EXPECT_EQ(back.get<Sample>().ns, 0.1);
  EXPECT_EQ(back.get<Sample>().sm_clock_mhz, 1980.5);
  EXPECT_TRUE(back.get<Sample>().throttled);
}

TEST(SeriesKey, DiffersWithEachOfItsParts) {
  const Record record = full_record();
  for (auto part :
       {&Record::operator_name, &Record::variant, &Record::configuration, &Record::problem}) {
    Record other = record;
    other.*part += "x";
    EXPECT_NE(series_key(other), series_key(record));
  }
  Record other = record;
  other.device = DeviceKind::cpu;
  EXPECT_NE(series_key(other), series_key(record));
}

}  // namespace
}  // namespace fusebench
