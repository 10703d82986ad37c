#include "harness/record/csv_rows.hpp"

#include <csv.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

std::string contents_of(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error("cannot read {}: it is a folder; name the CSV file in it", path);
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("cannot read {}: {}", path, std::strerror(errno));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) throw Error("cannot read {}: {}", path, std::strerror(errno));
  return text;
}

class Parser {
 public:
  explicit Parser(const std::string& path) : path_(path) {
    if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0) {
      throw Error("cannot read {}: libcsv did not start", path);
    }
    // Blanks around a field belong to it.
    csv_set_space_func(&parser_, [](unsigned char) { return 0; });
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { csv_free(&parser_); }

  // libcsv counts no lines, so it gets them one by one.
  std::vector<CsvRow> parse(std::string_view text) {
    for (; !text.empty(); ++line_) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end == text.npos ? end : end + 1);
      text.remove_prefix(line.size());
      if (!open_ && (line == "\n" || line == "\r\n")) continue;
      if (!open_) first_line_ = line_;
      open_ = true;
      if (csv_parse(&parser_, line.data(), line.size(), on_field, on_row, this) != line.size()) {
        throw Error(
            "{}:{}: a quote stands where none may; quote a whole field, and double the quotes "
            "in it",
            path_, line_);
      }
    }
    if (csv_fini(&parser_, on_field, on_row, this) != 0) {
      throw Error("{}:{}: the file ends inside a quoted field; it was cut off", path_, first_line_);
    }
    return std::move(rows_);
  }

 private:
  static void on_field(void* field, std::size_t size, void* self) {
    static_cast<Parser*>(self)->fields_.emplace_back(static_cast<const char*>(field), size);
  }
  static void on_row(int, void* self) {
    auto& parser = *static_cast<Parser*>(self);
    parser.rows_.push_back({parser.first_line_, std::exchange(parser.fields_, {})});
    parser.open_ = false;
    parser.first_line_ = parser.line_;
  }

  const std::string& path_;
  csv_parser parser_{};
  std::int64_t line_ = 1;
  std::int64_t first_line_ = 1;  // of the row being read
  bool open_ = false;            // a row has begun and not ended
  std::vector<std::string> fields_;
  std::vector<CsvRow> rows_;
};

}  // namespace

std::vector<CsvRow> read_csv_rows(const std::string& path) {
  const std::string text = contents_of(path);
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  if (rest.empty()) throw Error("{}: the file is empty", path);
  std::vector<CsvRow> rows = Parser(path).parse(rest);
  if (!rest.ends_with('\n')) {
    throw Error("{}:{}: the last line has no end; the file was cut off", path,
                rows.empty() ? 1 : rows.back().line);
  }
  return rows;
}

}  // namespace fusebench
