// Results read back. Catches a field that a round trip changes, a file that is torn, ragged or of another
// kind and yet read, and a refusal that does not say where.
#include "harness/record/csv_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "harness/core/error.hpp"
#include "harness/core/record_fields.hpp"
#include "harness/record/csv_rows.hpp"
#include "harness/record/csv_writer.hpp"

namespace fusebench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;
namespace fs = std::filesystem;

class CsvReader : public testing::Test {
 protected:
  CsvReader() {
    std::string pattern = (fs::temp_directory_path() / "fusebench-test-XXXXXX").string();
    const char* made = mkdtemp(pattern.data());
    if (made != nullptr) folder_ = made;
  }
  void SetUp() override { ASSERT_FALSE(folder_.empty()) << "no temporary folder"; }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return (folder_ / "x.csv").string(); }
  [[nodiscard]] std::string write(const std::string& text) const {
    std::ofstream(path(), std::ios::binary) << text;
    return path();
  }
  [[nodiscard]] std::string write(const std::vector<std::string>& header,
                                  const std::vector<std::vector<std::string>>& rows) const {
    CsvFile file(path(), header);
    for (const auto& row : rows) file.append(row);
    file.sync();
    return path();
  }

  fs::path folder_;
};

std::size_t place_of(const std::string& column) {
  const auto columns = record_columns();
  return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), column) -
                                  columns.begin());
}

// Every field differs from its default and from its neighbours.
Record full_record() {
  Record record;
  int count = 0;
  visit_fields(record, [&](const std::string& name, auto& field) {
    using T = std::remove_reference_t<decltype(field)>;
    ++count;
    if constexpr (std::is_same_v<T, std::string>) {
      field = name + ", \"quoted\"\nand\r\nbroken  ";
    } else if constexpr (std::is_same_v<T, std::optional<bool>> || std::is_same_v<T, bool>) {
      field = true;
    } else if constexpr (std::is_same_v<T, std::optional<double>>) {
      field = count + 0.1;
    } else if constexpr (!std::is_enum_v<T>) {
      if (name != "schema_version") field = static_cast<T>(count);
    }
  });
  record.device = DeviceKind::cuda;
  record.precision = Precision::bf16x3;
  record.outcome = Outcome::timed_out;
  record.seed = std::numeric_limits<std::uint64_t>::max();
  record.max_abs_error = std::numeric_limits<double>::infinity();
  record.max_rel_error = std::numeric_limits<double>::quiet_NaN();
  return record;
}

TEST_F(CsvReader, GivesBackEveryFieldThatTheWriterWrote) {
  const std::vector<Record> records = {full_record(), Record{}};
  (void)write(record_columns(), {record_row(records[0]), record_row(records[1])});
  const std::vector<Record> read = read_records(path());
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(record_row(read[0]), record_row(records[0]));
  EXPECT_EQ(record_row(read[1]), record_row(records[1]));
  EXPECT_FALSE(read[1].median_ns.has_value());
  EXPECT_TRUE(std::isnan(*read[0].max_rel_error));
}

TEST_F(CsvReader, TakesColumnsByNameIgnoresUnknownOnesAndDoesWithoutTheNewest) {
  std::vector<std::string> header = record_columns();
  std::vector<std::string> row = record_row(full_record());
  for (const char* newer : {"flops", "in_place", "plan", "judge", "cases", "battery"}) {
    ASSERT_EQ(header.back(), newer);
    header.pop_back();
    row.pop_back();
  }
  std::swap(header[5], header[6]);
  std::swap(row[5], row[6]);
  header.insert(header.begin(), "of the future");
  row.insert(row.begin(), "whatever");
  const Record read = read_records(write(header, {row})).at(0);
  EXPECT_EQ(read.operator_name, full_record().operator_name);
  EXPECT_EQ(read.variant, full_record().variant);
  EXPECT_EQ(read.judge, "");
  EXPECT_EQ(read.cases, 0);
  EXPECT_EQ(read.flops, 0);
}

TEST_F(CsvReader, ReadsAByteOrderMarkCrlfBlankLinesAndQuotedFieldsAsTheyWereMeant) {
  const auto rows = read_csv_rows(
      write("\xEF\xBB\xBF\"a\",b\r\n\r\n\"x,\"\"y\"\"\", z \r\n\n\"two\nlines\",\r\n1,2\n"));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_THAT(rows[0].fields, ElementsAre("a", "b"));
  EXPECT_THAT(rows[1].fields, ElementsAre("x,\"y\"", " z "));
  EXPECT_THAT(rows[2].fields, ElementsAre("two\nlines", ""));
  EXPECT_EQ(rows[0].line, 1);
  EXPECT_EQ(rows[1].line, 3);
  EXPECT_EQ(rows[2].line, 5);
  EXPECT_EQ(rows[3].line, 7);
}

TEST_F(CsvReader, SplitsAPlainLineAsLibcsvDoesBesideADoubledQuote) {
  for (const std::string line :
       {"a", ",", "a,,b", ",a,", "\"\"", "\"\",\"\"", "\"a,b\",c", "a,\"b\"", " a , b ", "\" a\"",
        "\"1\r2\",3", "\xC3\xA9,\"\xE2\x82\xAC\"", "\t,\x01"}) {
    for (const char* end : {"\n", "\r\n"}) {
      auto alone = read_csv_rows(write(line + end)).at(0).fields;
      alone.emplace_back("\"");
      EXPECT_EQ(alone, read_csv_rows(write(line + ",\"\"\"\"" + end)).at(0).fields) << line;
    }
  }
}

TEST_F(CsvReader, RefusesAFieldThatIsNotOfItsColumnsKindAndSaysWhere) {
  for (const auto& [column, text] : {std::pair{"median_ns", "nan"},
                                     {"q1_ns", "inf"},
                                     {"ci_low_ns", "-1"},
                                     {"median_ns", "12 ms"},
                                     {"cv", "0,5"},
                                     {"cv", "0x1"},
                                     {"within_1e4", "yes"},
                                     {"dirty", ""},
                                     {"dirty", "True"},
                                     {"samples", "1.5"},
                                     {"samples", ""},
                                     {"seed", "-1"},
                                     {"seed", "18446744073709551616"},
                                     {"outcome", "peer"},
                                     {"precision", "double"},
                                     {"device", ""},
                                     {"flops", "1e9"},
                                     {"flops", "99999999999999999999"},
                                     {"useful_bytes", "1 "}}) {
    std::vector<std::string> bad = record_row(full_record());
    bad[place_of(column)] = text;
    // Each record before it takes as many lines as its texts break.
    const std::string file = write(record_columns(), {record_row(Record{}), bad});
    EXPECT_THAT([&] { (void)read_records(file); },
                ThrowsMessage<Error>(AllOf(StartsWith(file + ":3, column " + column),
                                           HasSubstr("'" + std::string(text) + "'"))))
        << column << " '" << text << "'";
  }
}

TEST_F(CsvReader, RefusesARowThatPassedWithSamplesAndHasNoMedian) {
  Record record = full_record();
  record.outcome = Outcome::passed;
  (void)write(record_columns(), {record_row(record)});
  EXPECT_EQ(read_records(path()).size(), 1U);
  record.median_ns.reset();
  (void)write(record_columns(), {record_row(record)});
  EXPECT_THAT([&] { (void)read_records(path()); },
              ThrowsMessage<Error>(AllOf(StartsWith(path() + ":2"), HasSubstr("median_ns"))));
  record.samples = 0;  // verified and not timed
  (void)write(record_columns(), {record_row(record)});
  EXPECT_EQ(read_records(path()).size(), 1U);
}

TEST_F(CsvReader, SaysOfWhatIsTakenForResultsWhatItIs) {
  const std::vector<std::pair<std::string, std::string>> others = {
      {"{\"schema_version\": 1}\n", "is JSON"},
      {"\xEF\xBB\xBF [1]\n", "is JSON"},
      {"verdict,operator,old_median_ns,new_median_ns\nslower,op,1,2\n", "'compare --csv'"},
      {"run_id,operator,variant,sample,ns\nx,op,v,0,1\n", "samples of a run"}};
  for (const auto& other : others) {
    EXPECT_THAT([&] { (void)read_records(write(other.first)); },
                ThrowsMessage<Error>(AllOf(StartsWith(path()), HasSubstr(other.second))));
  }
}

TEST_F(CsvReader, RefusesRaggedRows) {
  std::vector<std::string> shorter = record_row(Record{});
  shorter.pop_back();
  std::vector<std::string> longer = record_row(Record{});
  longer.push_back("more");
  EXPECT_THAT([&] { (void)read_records(write(record_columns(), {shorter})); },
              ThrowsMessage<Error>(AllOf(StartsWith(path() + ":2, column flops"),
                                         HasSubstr("44 fields, the header 45"))));
  EXPECT_THAT(
      [&] {
        (void)read_records(write(record_columns(), {record_row({}), longer}));
      },
      ThrowsMessage<Error>(AllOf(StartsWith(path() + ":3"), HasSubstr("46 fields"))));
}

TEST_F(CsvReader, RefusesAColumnThatIsMissingOrThereTwice) {
  std::vector<std::string> header = record_columns();
  header[place_of("cv")] = "median_ns";
  EXPECT_THAT([&] { (void)read_records(write(header, {record_row({})})); },
              ThrowsMessage<Error>(
                  AllOf(StartsWith(path() + ":1"), HasSubstr("median_ns is there twice"))));
  header[place_of("cv")] = "of the future";
  EXPECT_THAT(
      [&] { (void)read_records(write(header, {record_row({})})); },
      ThrowsMessage<Error>(AllOf(StartsWith(path() + ":1"), HasSubstr("column cv is missing"))));
}

TEST_F(CsvReader, RefusesAnotherVersionBeforeItLooksForColumns) {
  const std::string file = write("schema_version,something\n2,new\n");
  EXPECT_THAT([&] { (void)read_records(file); },
              ThrowsMessage<Error>(
                  AllOf(StartsWith(file + ":2, column schema_version"), HasSubstr("'2'"))));
}

TEST_F(CsvReader, RefusesWhatIsNoFileEmptyOrWithoutRows) {
  EXPECT_THAT([&] { (void)read_records(path()); },
              ThrowsMessage<Error>(AllOf(HasSubstr(path()), HasSubstr("No such file"))));
  EXPECT_THAT([&] { (void)read_records(folder_.string()); },
              ThrowsMessage<Error>(AllOf(HasSubstr(folder_.string()), HasSubstr("folder"))));
  for (const char* nothing : {"", "\xEF\xBB\xBF", "\n\n"}) {
    EXPECT_THAT([&] { (void)read_records(write(nothing)); },
                ThrowsMessage<Error>(StartsWith(path())));
  }
  EXPECT_THAT([&] { (void)read_records(write(record_columns(), {})); },
              ThrowsMessage<Error>(AllOf(StartsWith(path() + ":1"), HasSubstr("no row"))));
}

TEST_F(CsvReader, RefusesAFileCutOffAnywhereInItsLastRow) {
  const std::string file = write(record_columns(), {record_row({}), record_row(full_record())});
  std::ifstream in(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::size_t last_row = text.find("\n1,", text.find('\n') + 1) + 1;
  for (std::size_t size = last_row + 1; size < text.size(); ++size) {
    EXPECT_THAT([&] { (void)read_records(write(text.substr(0, size))); },
                ThrowsMessage<Error>(StartsWith(path() + ":3")))
        << "cut to " << size << " of " << text.size();
  }
}

TEST_F(CsvReader, RefusesBrokenQuoting) {
  EXPECT_THAT([&] { (void)read_csv_rows(write("a,b\n1,2\n1,\"x\"y\n")); },
              ThrowsMessage<Error>(AllOf(StartsWith(path() + ":3"), HasSubstr("quote"))));
  EXPECT_THAT([&] { (void)read_csv_rows(write("a,b\n1,2\n1,x\"y\n")); },
              ThrowsMessage<Error>(AllOf(StartsWith(path() + ":3"), HasSubstr("quote"))));
}

TEST_F(CsvReader, RefusesACarriageReturnThatEndsNoLine) {
  for (const char* text :
       {"a,b\n1\r2,3\n", "a,b\n1,2\r3,4\n", "a,b\n1,\"2\"\r3\n", "a,b\n\r1,2\n", "a,b\n1,2\r\r\n",
        "a,b\n\r\r\n1,2\n", "a\n\"3\"\r\r\n", "a,b\r\n\"1\",2\r\r\r\n"}) {
    EXPECT_THAT(
        [&] { (void)read_csv_rows(write(text)); },
        ThrowsMessage<Error>(AllOf(StartsWith(path() + ":2"), HasSubstr("carriage return"))))
        << text;
  }
  EXPECT_EQ(read_csv_rows(write("a,b\r\n\"1\r2\",3\r\n"))[1].fields[0], "1\r2");
  EXPECT_EQ(read_csv_rows(write("a\r\n\"1\r\r\n\r2\"\r\n"))[1].fields[0], "1\r\r\n\r2");
  const auto rows = read_csv_rows(write("a\r\n\r\n1\r\n"));
  EXPECT_EQ(rows[1].line, 3);
}

// What fuzzing has found may be a good file or a bad one.
TEST_F(CsvReader, ReadsEveryFileThatFuzzingStartsFromOrRefusesItByItsName) {
  const char* given = std::getenv("FUSEBENCH_FUZZ");
  const std::string folder = given == nullptr ? FUSEBENCH_FUZZ_FOLDER : given;
  ASSERT_TRUE(fs::is_directory(folder)) << folder << "; FUSEBENCH_FUZZ names another";
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string found = entry.path().string();
    ++count;
    try {
      EXPECT_FALSE(read_records(found).empty()) << found;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(found));
    }
  }
  EXPECT_GE(count, 5);
}

TEST_F(CsvReader, LendsRecordsOneByOneUpToABadRow) {
  std::vector<std::string> bad = record_row(full_record());
  bad[place_of("cv")] = "x";
  (void)write(record_columns(), {record_row(full_record()), record_row(Record{}), bad});
  std::vector<Record> taken;
  EXPECT_THROW(read_records(path(), [&](const Record& record) { taken.push_back(record); }), Error);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(record_row(taken[0]), record_row(full_record()));
  EXPECT_EQ(record_row(taken[1]), record_row(Record{}));  // nothing of the row before is left
}

}  // namespace
}  // namespace fusebench
