#include "harness/tune/text_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/core/error.hpp"

#if FUSEBENCH_HAVE_ZLIB
#include <zlib.h>
#endif

namespace fusebench {
namespace {

#if FUSEBENCH_HAVE_ZLIB
std::string unpacked(const std::string& path) {
  struct Closer {
    void operator()(gzFile file) const { (void)gzclose(file); }
  };
  const std::unique_ptr<std::remove_pointer_t<gzFile>, Closer> file(gzopen(path.c_str(), "rb"));
  if (!file) throw Error("cannot read {}: {}", path, std::strerror(errno));
  std::string text;
  std::array<char, 1 << 16> piece{};
  for (;;) {
    const int count = gzread(file.get(), piece.data(), static_cast<unsigned>(piece.size()));
    if (count > 0) text.append(piece.data(), static_cast<std::size_t>(count));
    if (count == static_cast<int>(piece.size())) continue;
    int status = Z_OK;
    const char* const reason = gzerror(file.get(), &status);
    if (count < 0 || status != Z_OK) {
      throw Error("{} is torn: {}; fetch it again", path,
                  status == Z_BUF_ERROR ? "it ends too early" : reason);
    }
    return text;
  }
}
#else
std::string unpacked(const std::string& path) {
  throw Error("{} is gzipped, and this build has no zlib: gunzip it first", path);
}
#endif

constexpr std::string_view gzip_magic = "\x1f\x8b";

}  // namespace

bool is_gzipped(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 2> begin{};
  return file.read(begin.data(), begin.size()) &&
         std::string_view(begin.data(), begin.size()) == gzip_magic;
}

std::string read_text_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error("cannot read {}: it is a folder", path);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("cannot read {}: {}", path, std::strerror(errno));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw Error("cannot read {}: {}", path, std::strerror(errno));
  return text.starts_with(gzip_magic) ? unpacked(path) : text;
}

template <typename Json>
Json parse_json(const std::string& path, std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const typename Json::parse_error& error) {
    const std::string_view before = text.substr(0, error.byte == 0 ? 0 : error.byte - 1);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    throw Error("{} is not JSON: line {}, byte {} cannot be read", path, line, error.byte);
  }
}

template nlohmann::json parse_json(const std::string& path, std::string_view text);
template nlohmann::ordered_json parse_json(const std::string& path, std::string_view text);

}  // namespace fusebench
