#include "reference/conv_transpose3d.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/error.hpp"
#include "harness/core/parameters.hpp"

namespace fusebench {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr std::int64_t largest_size = std::int64_t{1} << 30;  // kernels count extents in 32 bits
constexpr std::array<const char*, 3> dimensions = {"d", "h", "w"};
constexpr std::array<const char*, 5> per_dimension = {"k", "s", "p", "op", "dil"};

// Takes what was given, and knows in the end what nobody asked for.
class Sizes {
 public:
  explicit Sizes(std::string_view text)
      : text_(text), given_(parse_key_values("--problem", text)) {}

  std::int64_t take(const std::string& name, std::optional<std::int64_t> usual,
                    std::int64_t least) {
    const auto found = std::find_if(given_.begin(), given_.end(),
                                    [&](const auto& pair) { return pair.first == name; });
    if (found == given_.end()) {
      if (usual) return *usual;
      throw Error("--problem '{}': size '{}' is missing", text_, name);
    }
    const std::int64_t value = parse_integer("--problem: " + name, found->second);
    if (value < least || value > largest_size) {
      throw Error("--problem: {} must be between {} and {}, not {}", name, least, largest_size,
                  value);
    }
    given_.erase(found);
    return value;
  }

  PerDimension take_all(const std::string& name, std::optional<std::int64_t> usual,
                        std::int64_t least) {
    const bool named = std::any_of(given_.begin(), given_.end(),
                                   [&](const auto& pair) { return pair.first == name; });
    if (named) usual = take(name, usual, least);
    PerDimension values{};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string one = name + dimensions[i];
      values[i] = take(one, usual, least);
    }
    return values;
  }

  void expect_nothing_left() const {
    if (given_.empty()) return;
    throw Error("--problem: unknown size '{}'; the sizes are n, ci, co, d, h, w, {} (each for all "
                "dimensions, or with d, h or w behind it), g and bias",
                given_.front().first, fmt::join(per_dimension, ", "));
  }

 private:
  std::string text_;
  Pairs given_;
};

void check(const ConvTranspose3d& p) {
  for (const auto& [name, channels] : {std::pair("ci", p.in_channels), {"co", p.out_channels}}) {
    if (channels % p.groups == 0) continue;
    throw Error("--problem: {}={} channels are not divisible by g={} groups", name, channels,
                p.groups);
  }
  const PerDimension output = p.output();
  for (std::size_t i = 0; i < 3; ++i) {
    if (p.output_padding[i] >= std::max(p.stride[i], p.dilation[i])) {
      throw Error("--problem: output_padding op{0}={1} must be smaller than the stride s{0}={2} or "
                  "the dilation dil{0}={3}",
                  dimensions[i], p.output_padding[i], p.stride[i], p.dilation[i]);
    }
    if (output[i] < 1 || output[i] > largest_size) {
      throw Error("--problem: the output's extent {0} would be {1} = ({0} - 1) * s{0} - 2 * p{0} + "
                  "dil{0} * (k{0} - 1) + op{0} + 1; it must be between 1 and {2}",
                  dimensions[i], output[i], largest_size);
    }
  }
}

}  // namespace

PerDimension ConvTranspose3d::output() const noexcept {
  PerDimension extents{};
  for (std::size_t i = 0; i < 3; ++i) {
    extents[i] = (input[i] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (kernel[i] - 1) +
                 output_padding[i] + 1;
  }
  return extents;
}

ConvTranspose3d parse_conv_transpose3d(std::string_view text) {
  Sizes sizes(text);
  ConvTranspose3d p;
  p.n = sizes.take("n", std::nullopt, 1);
  p.in_channels = sizes.take("ci", std::nullopt, 1);
  p.out_channels = sizes.take("co", std::nullopt, 1);
  for (std::size_t i = 0; i < 3; ++i) p.input[i] = sizes.take(dimensions[i], std::nullopt, 1);
  p.kernel = sizes.take_all("k", std::nullopt, 1);
  p.stride = sizes.take_all("s", 1, 1);
  p.padding = sizes.take_all("p", 0, 0);
  p.output_padding = sizes.take_all("op", 0, 0);
  p.dilation = sizes.take_all("dil", 1, 1);
  p.groups = sizes.take("g", 1, 1);
  const std::int64_t bias = sizes.take("bias", 1, 0);
  if (bias > 1) throw Error("--problem: bias must be 0 or 1, not {}", bias);
  p.bias = bias == 1;
  sizes.expect_nothing_left();
  check(p);
  return p;
}

Problem problem_of(const ConvTranspose3d& p) {
  std::vector<std::pair<std::string, std::int64_t>> sizes = {
      {"n", p.n},        {"ci", p.in_channels}, {"co", p.out_channels},
      {"d", p.input[0]}, {"h", p.input[1]},     {"w", p.input[2]}};
  const auto add = [&](const std::string& name, const PerDimension& values) {
    if (values[0] == values[1] && values[1] == values[2]) {
      sizes.emplace_back(name, values[0]);
      return;
    }
    for (std::size_t i = 0; i < 3; ++i) sizes.emplace_back(name + dimensions[i], values[i]);
  };
  add("k", p.kernel);
  add("s", p.stride);
  add("p", p.padding);
  add("op", p.output_padding);
  if (p.dilation != PerDimension{1, 1, 1}) add("dil", p.dilation);
  if (p.groups != 1) sizes.emplace_back("g", p.groups);
  if (!p.bias) sizes.emplace_back("bias", 0);
  return Problem(std::move(sizes));
}

ConvTranspose3d conv_transpose3d_of(const Problem& problem) {
  return parse_conv_transpose3d(problem.to_string());
}

}  // namespace fusebench
