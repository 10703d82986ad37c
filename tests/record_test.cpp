// Files of results, read back as another program would. Catches columns out of order, fields that break a
// row, digits lost, rows that are not on disk when the run dies, and write errors that pass in silence.
#include <csv.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/error.hpp"
#include "harness/record/csv_writer.hpp"
#include "harness/record/json_writer.hpp"

namespace fusebench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
namespace fs = std::filesystem;

class RecordFiles : public testing::Test {
 protected:
  RecordFiles() {
    std::string pattern = (fs::temp_directory_path() / "fusebench-test-XXXXXX").string();
    const char* made = mkdtemp(pattern.data());
    if (made != nullptr) folder_ = made;
  }
  void SetUp() override { ASSERT_FALSE(folder_.empty()) << "no temporary folder"; }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  fs::path folder_;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

using Table = std::vector<std::vector<std::string>>;

// Parses with libcsv, strictly, keeping the blanks around fields as RFC 4180 asks.
Table read_csv(const std::string& path) {
  struct State {
    Table table;
    std::vector<std::string> row;
  } state;
  csv_parser parser{};
  csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI);
  csv_set_space_func(&parser, [](unsigned char) { return 0; });
  const auto on_field = [](void* field, std::size_t size, void* to) {
    static_cast<State*>(to)->row.emplace_back(static_cast<const char*>(field), size);
  };
  const auto on_row = [](int, void* to) {
    auto* s = static_cast<State*>(to);
    s->table.push_back(std::exchange(s->row, {}));
  };
  const std::string text = text_of(path);
  EXPECT_EQ(csv_parse(&parser, text.data(), text.size(), on_field, on_row, &state), text.size())
      << csv_strerror(csv_error(&parser));
  EXPECT_EQ(csv_fini(&parser, on_field, on_row, &state), 0);
  csv_free(&parser);
  return state.table;
}

std::string field_of(const Record& record, const std::string& column) {
  const auto columns = record_columns();
  const auto at = std::find(columns.begin(), columns.end(), column) - columns.begin();
  return record_row(record).at(static_cast<std::size_t>(at));
}

TEST_F(RecordFiles, HaveTheColumnsThatReadersRelyOnInOrder) {
  const std::string columns =
      "schema_version,run_id,timestamp_utc,git_commit,dirty,operator,variant,configuration,problem,"
      "device,precision,replica,seed,outcome,reason,samples,stop_reason,median_"
      "ns,q1_ns,q3_ns,min_"
      "ns,"
      "cv,ci_low_ns,ci_high_ns,back_to_back_ns,graph_ns,useful_bytes,throughput_gbps,ceiling_"
      "percent,"
      "max_abs_error,max_rel_error,within_1e4,bit_equal_percent,device_name,driver,toolkit,"
      "clock_policy,sm_clock_mhz,temperature_c,battery,cases,judge,plan,in_place,flops\n";
  const ResultFiles files(path("run.csv"));
  EXPECT_EQ(text_of(path("run.csv")), columns);
  EXPECT_EQ(text_of(path("run.samples.csv")),
            "run_id,operator,variant,configuration,problem,device,replica,sample,ns,sm_clock_mhz,"
            "throttled\n");
}

TEST_F(RecordFiles, GiveBackWhateverAFieldHolds) {
  const std::vector<std::string> header = {"plain", "head,er"};
  const Table rows = {
      {"a,b", "say \"no\""},    {"two\nlines", "carriage\r\nreturn"},     {"", ""}, {"\"", ","},
      {" blanks \t", "é \xFF"}, {"block=256,load=streaming", "\"\"\n,\""}};
  {
    CsvFile file(path("x.csv"), header);
    for (const auto& row : rows) file.append(row);
  }
  Table expected = {header};
  expected.insert(expected.end(), rows.begin(), rows.end());
  EXPECT_EQ(read_csv(path("x.csv")), expected);
}

TEST_F(RecordFiles, LeaveAFieldEmptyWhereAFigureDoesNotExist) {
  const Record record;
  for (const char* column : {"median_ns", "cv", "graph_ns", "throughput_gbps", "within_1e4",
                             "bit_equal_percent", "sm_clock_mhz", "temperature_c", "reason"}) {
    EXPECT_EQ(field_of(record, column), "") << column;
  }
  EXPECT_EQ(field_of(record, "useful_bytes"), "0");
  EXPECT_EQ(field_of(record, "flops"), "0");
  EXPECT_EQ(field_of(record, "dirty"), "false");
}

TEST_F(RecordFiles, WriteTheShortestDigitsThatReadBackTheSame) {
  Record record;
  for (const auto& [value, text] : {std::pair{0.1, "0.1"},
                                    {1.0, "1"},
                                    {0.1 + 0.2, "0.30000000000000004"},
                                    {1e300, "1e+300"},
                                    {5e-324, "5e-324"},
                                    {123456789.125, "123456789.125"},
                                    {std::numeric_limits<double>::infinity(), "inf"}}) {
    record.median_ns = value;
    EXPECT_EQ(field_of(record, "median_ns"), text);
    EXPECT_EQ(std::strtod(text, nullptr), value);
  }
  record.max_rel_error = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(field_of(record, "max_rel_error"), "nan");
  record.seed = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(field_of(record, "seed"), "18446744073709551615");
  record.outcome = Outcome::timed_out;
  record.within_1e4 = false;
  EXPECT_EQ(field_of(record, "outcome"), "timed_out");
  EXPECT_EQ(field_of(record, "within_1e4"), "false");
}

TEST_F(RecordFiles, HoldEachRowOnDiskBeforeTheNextWhileStillOpen) {
  ResultFiles files(path("run.csv"));
  Record record;
  record.operator_name = "op";
  for (std::size_t rows = 1; rows <= 3; ++rows) {
    record.variant = "v" + std::to_string(rows);
    files.append(record, std::vector<Sample>{{12.5, 1980, true}, {13, 0, false}});
    const Table table = read_csv(path("run.csv"));
    ASSERT_EQ(table.size(), 1 + rows);
    EXPECT_EQ(table.back(), record_row(record));
    const Table samples = read_csv(path("run.samples.csv"));
    ASSERT_EQ(samples.size(), 1 + 2 * rows);
    EXPECT_THAT(samples[2 * rows - 1], ElementsAre("", "op", record.variant, "", "", "cpu", "0",
                                                   "0", "12.5", "1980", "true"));
    EXPECT_THAT(samples[2 * rows],
                ElementsAre("", "op", record.variant, "", "", "cpu", "0", "1", "13", "", "false"));
  }
}

TEST_F(RecordFiles, ReplaceWhatAnEarlierRunLeft) {
  std::ofstream(path("run.csv")) << "old\nold\nold\n";
  const ResultFiles files(path("run.csv"));
  EXPECT_EQ(read_csv(path("run.csv")), Table{record_columns()});
}

TEST_F(RecordFiles, KeepWhatAnEarlierSearchLeftLessARowThatWasCutOff) {
  Record record;
  record.variant = "first";
  record.reason = "two\nlines, \"quoted\"";
  const std::vector<Sample> samples = {{12.5, 1980, true}};
  ResultFiles(path("run.csv"), EarlierRows::kept).append(record, samples);
  const std::string whole = text_of(path("run.csv"));
  const std::string header = whole.substr(0, whole.find('\n') + 1);
  record.variant = "second";
  for (std::size_t torn = 0; torn < whole.size() - header.size(); ++torn) {
    std::ofstream(path("run.csv"), std::ios::binary) << whole << whole.substr(header.size(), torn);
    ResultFiles(path("run.csv"), EarlierRows::kept).append(record, samples);
    const Table table = read_csv(path("run.csv"));
    ASSERT_EQ(table.size(), 3U) << torn;
    EXPECT_EQ(table[2], record_row(record));
    EXPECT_TRUE(text_of(path("run.csv")).starts_with(whole)) << torn;
  }
  EXPECT_EQ(read_csv(path("run.samples.csv")).size(), 2 + whole.size() - header.size());
  for (const std::string& birth : {std::string(), header.substr(0, 20), header}) {
    std::ofstream(path("run.csv"), std::ios::binary) << birth;
    { const ResultFiles files(path("run.csv"), EarlierRows::kept); }
    EXPECT_EQ(text_of(path("run.csv")), header);
  }
}

TEST_F(RecordFiles, WithOtherColumnsAreRefusedAndStayWhereRowsAreToBeKept) {
  for (const std::string text : {"old\nold\n", "no line end", "\n"}) {
    std::ofstream(path("run.csv"), std::ios::binary) << text;
    EXPECT_THAT([&] { ResultFiles(path("run.csv"), EarlierRows::kept); },
                ThrowsMessage<Error>(HasSubstr("run.csv")));
    EXPECT_EQ(text_of(path("run.csv")), text);
  }
}

TEST_F(RecordFiles, ThatCannotBeMadeAreAnErrorThatNamesTheFile) {
  for (const std::string& bad : {path("absent/run.csv"), folder_.string()}) {
    EXPECT_THAT([&] { CsvFile(bad, {"a"}); }, ThrowsMessage<Error>(HasSubstr(bad)));
  }
}

TEST_F(RecordFiles, OnAFullDiskAreAnErrorThatNamesTheFile) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "/dev/full does not exist here";
  const auto names_it = ThrowsMessage<Error>(AllOf(HasSubstr("/dev/full"), HasSubstr("space")));
  EXPECT_THAT([] { CsvFile("/dev/full", {"a"}); }, names_it);
  EXPECT_THAT([] { write_json("/dev/full", {}); }, names_it);

  // A disk that fills up later: the samples' file is the one that fails.
  fs::create_symlink("/dev/full", path("run.samples.csv"));
  EXPECT_THAT([&] { ResultFiles files(path("run.csv")); },
              ThrowsMessage<Error>(HasSubstr("run.samples.csv")));
}

TEST(SamplesPath, StandsBesideTheRecordsFile) {
  EXPECT_EQ(samples_path("results/run.csv"), "results/run.samples.csv");
  EXPECT_EQ(samples_path("run"), "run.samples.csv");
  EXPECT_EQ(samples_path("results.v1/run.2.tsv"), "results.v1/run.2.samples.tsv");
}

RunDocument document() {
  RunDocument document;
  document.command_line = {"fusebench", "run", "--csv", "a b.csv"};
  document.host = "host \xFF";  // no UTF-8: replaced, not refused
  document.devices = {{.name = "GPU", .cache_bytes = 5, .architecture = Architecture{90, true}}};
  document.records.resize(2);
  document.records[1].max_abs_error = std::numeric_limits<double>::infinity();
  document.notes = {"a note"};
  return document;
}

TEST_F(RecordFiles, AsJsonHoldTheRunAndLeaveNoPartBehind) {
  write_json(path("run.json"), document());
  EXPECT_THAT(files(), ElementsAre("run.json"));
  const auto json = nlohmann::json::parse(text_of(path("run.json")));
  EXPECT_EQ(json.at("schema_version"), 1);
  EXPECT_EQ(json.at("complete"), false);
  EXPECT_EQ(json.at("command_line").at(3), "a b.csv");
  EXPECT_EQ(json.at("devices").at(0).at("architecture"), "sm_90a");
  EXPECT_EQ(json.at("devices").at(0).at("cache_bytes"), 5);
  EXPECT_EQ(json.at("notes").at(0), "a note");
  ASSERT_EQ(json.at("records").size(), 2U);
  EXPECT_EQ(json.at("records").at(1).get<Record>().max_abs_error,
            std::numeric_limits<double>::infinity());
}

TEST_F(RecordFiles, AsJsonReplaceTheWholeOldDocumentAtOnce) {
  write_json(path("run.json"), document());
  const std::string old = text_of(path("run.json"));
  // Whoever has the old document open keeps reading all of it.
  std::ifstream reader(path("run.json"));
  RunDocument shorter;
  shorter.complete = true;
  write_json(path("run.json"), shorter);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), old);
  EXPECT_EQ(nlohmann::json::parse(text_of(path("run.json"))).at("complete"), true);
}

TEST_F(RecordFiles, AsJsonKeepTheOldDocumentWhenTheNewOneCannotBeWritten) {
  write_json(path("run.json"), document());
  const std::string old = text_of(path("run.json"));
  fs::create_symlink("/dev/full", path("run.json.part"));
  EXPECT_THAT([&] { write_json(path("run.json"), document()); },
              ThrowsMessage<Error>(HasSubstr("run.json")));
  EXPECT_EQ(text_of(path("run.json")), old);
  EXPECT_THAT(files(), ElementsAre("run.json"));  // what could not be finished is gone
}

TEST_F(RecordFiles, AsJsonThatCannotBeMadeAreAnErrorThatNamesTheFile) {
  // The last name is longer than any file system takes.
  for (const std::string& bad :
       {path("absent/run.json"), folder_.string(), path(std::string(300, 'x'))}) {
    EXPECT_THAT([&] { write_json(bad, document()); }, ThrowsMessage<Error>(HasSubstr(bad)));
  }
}

}  // namespace
}  // namespace fusebench
