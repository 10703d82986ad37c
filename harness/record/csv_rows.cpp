#include "harness/record/csv_rows.hpp"

#include <csv.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

// Splits a line, without its end, whose every quote begins or ends a whole field: nearly all lines, and several
// times faster than libcsv, which sees one byte at a time. False, with `fields` in disorder, where libcsv must judge.
bool split_plain(std::string_view line, std::vector<std::string>& fields, std::size_t& count) {
  const char* at = line.data();
  const char* const end = at + line.size();
  for (count = 0;; ++at) {
    const char* first = at;
    const char* last = nullptr;
    if (at != end && *at == '"') {
      ++first;
      last =
          static_cast<const char*>(std::memchr(first, '"', static_cast<std::size_t>(end - first)));
      if (last == nullptr) return false;
      at = last + 1;
    } else {
      while (at != end && *at != ',' && *at != '"' && *at != '\r') ++at;
      last = at;
    }
    if (at != end && *at != ',') return false;
    if (count == fields.size()) fields.emplace_back();
    fields[count++].assign(first, last);
    if (at == end) return true;
  }
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

  // libcsv counts no lines, so it gets them one by one. Nothing is taken inside its callbacks: an exception must
  // not cross it.
  void parse(std::string_view text, const std::function<void(const CsvRow&)>& take) {
    for (std::int64_t line_number = 1; !text.empty(); ++line_number) {
      const std::size_t end = text.find('\n');
      const bool has_end = end != text.npos;
      const std::string_view line = text.substr(0, has_end ? end + 1 : end);
      text.remove_prefix(line.size());
      if (!open_ && (line == "\n" || line == "\r\n")) continue;
      // libcsv takes it for an empty row, which it leaves out.
      if (!open_ && line.front() == '\r') refuse_carriage_return(line_number);
      if (!open_) {
        row_.line = line_number;
        if (has_end && split_plain(without_end(line), row_.fields, fields_)) {
          row_.fields.resize(fields_);
          take(row_);
          continue;
        }
        fields_ = 0;
      }
      open_ = true;
      if (csv_parse(&parser_, line.data(), line.size(), on_field, on_row, this) != line.size()) {
        throw Error(
            "{}:{}: a quote stands where none may; quote a whole field, and double the quotes "
            "in it",
            path_, line_number);
      }
      if (std::exchange(ended_, 0) > 1) refuse_carriage_return(line_number);
      if (open_) continue;
      if (line.ends_with("\r\r\n")) refuse_carriage_return(line_number);
      row_.fields.resize(fields_);
      if (has_end) take(row_);
    }
    if (csv_fini(&parser_, on_field, on_row, this) != 0) {
      throw Error("{}:{}: the file ends inside a quoted field; it was cut off", path_, row_.line);
    }
  }

  [[nodiscard]] std::int64_t line() const { return row_.line; }

 private:
  [[noreturn]] void refuse_carriage_return(std::int64_t line_number) const {
    throw Error("{}:{}: a carriage return stands inside the line; quote the field that it is in",
                path_, line_number);
  }
  static std::string_view without_end(std::string_view line) {
    line.remove_suffix(line.ends_with("\r\n") ? 2 : 1);
    return line;
  }
  static void on_field(void* field, std::size_t size, void* self) {
    auto& parser = *static_cast<Parser*>(self);
    std::vector<std::string>& fields = parser.row_.fields;
    if (parser.fields_ == fields.size()) fields.emplace_back();
    // Over the last row's: its memory serves again.
    fields[parser.fields_++].assign(static_cast<const char*>(field), size);
  }
  static void on_row(int, void* self) {
    auto& parser = *static_cast<Parser*>(self);
    parser.open_ = false;
    ++parser.ended_;
  }

  const std::string& path_;
  csv_parser parser_{};
  CsvRow row_;
  std::size_t fields_ = 0;  // of the row being read
  int ended_ = 0;           // rows that ended in this line: to libcsv a lone CR ends one too
  bool open_ = false;       // a row has begun and not ended
};

}  // namespace

std::string contents_of(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error("cannot read {}: it is a folder; name the CSV file in it", path);
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("cannot read {}: {}", path, std::strerror(errno));
  std::string text;
  constexpr std::size_t step = std::size_t{1} << 20;
  const auto known = std::filesystem::file_size(path, ignored);  // not of a pipe
  if (!ignored) text.reserve(known + step);
  do {
    const std::size_t size = text.size();
    text.resize(size + step);
    file.read(text.data() + size, step);
    text.resize(size + static_cast<std::size_t>(file.gcount()));
  } while (file);
  if (file.bad()) throw Error("cannot read {}: {}", path, std::strerror(errno));
  return text;
}

void parse_csv_rows(const std::string& path, std::string_view text,
                    const std::function<void(const CsvRow&)>& take) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.empty()) throw Error("{}: the file is empty", path);
  Parser parser(path);
  parser.parse(text, take);
  if (!text.ends_with('\n')) {
    throw Error("{}:{}: the last line has no end; the file was cut off", path,
                std::max<std::int64_t>(parser.line(), 1));
  }
}

std::vector<CsvRow> read_csv_rows(const std::string& path) {
  std::vector<CsvRow> rows;
  parse_csv_rows(path, contents_of(path), [&](const CsvRow& row) { rows.push_back(row); });
  return rows;
}

}  // namespace fusebench
