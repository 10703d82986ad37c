// Reads the .npy files of reference/golden: little-endian float32 or float64, C order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace fusebench::test {

template <typename T>
std::vector<T> read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  // "\x93NUMPY", two version bytes, then the header's length: 2 bytes in version 1.
  if (all.size() < 10 || all.compare(1, 5, "NUMPY") != 0 || all[6] != 1) {
    throw std::runtime_error(path + " is not a version 1 .npy file");
  }
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(all[i]));
  };
  const std::size_t data = 10 + byte(8) + 256 * byte(9);
  const std::string header = all.substr(10, data - 10);
  const std::string type = sizeof(T) == 4 ? "'<f4'" : "'<f8'";
  if (header.find(type) == std::string::npos ||
      header.find("'fortran_order': False") == std::string::npos) {
    throw std::runtime_error(path + " does not hold " + type + " in C order: " + header);
  }
  std::vector<T> values((all.size() - data) / sizeof(T));
  std::copy_n(all.data() + data, values.size() * sizeof(T), reinterpret_cast<char*>(values.data()));
  return values;
}

/// The extents in such a file's header, outermost first.
inline std::vector<std::int64_t> npy_shape(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(128, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  const std::size_t open = head.find('(');
  if (open == std::string::npos) throw std::runtime_error(path + " names no shape");
  std::vector<std::int64_t> shape;
  for (std::size_t at = open + 1; head.at(at) != ')';) {
    std::size_t used = 0;
    shape.push_back(std::stoll(head.substr(at), &used));
    at += used;
    while (head.at(at) == ',' || head.at(at) == ' ') ++at;
  }
  return shape;
}

/// The folder of golden data: set by CTest, so that an installed test finds its own.
inline std::string golden_folder() {
  const char* folder = std::getenv("FUSEBENCH_GOLDEN");
  return folder == nullptr ? FUSEBENCH_GOLDEN_FOLDER : folder;
}

}  // namespace fusebench::test
