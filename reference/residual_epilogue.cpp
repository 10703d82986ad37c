// The oracle and the problems of residual_epilogue. Plain loops, no cleverness.
#include "reference/residual_epilogue.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"

namespace fusebench::residual_epilogue {
namespace {

constexpr std::array<std::string_view, 5> size_names = {"n", "c", "d", "h", "w"};

class EpilogueOracle final : public Oracle {
 public:
  EpilogueOracle(const Sizes& sizes, std::span<const float> c, std::span<const float> b)
      : sizes_(sizes), c_(c), b_(b) {}

  void expect(std::int64_t first, std::span<Expectation> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::int64_t element = first + static_cast<std::int64_t>(i);
      const float c = c_[static_cast<std::size_t>(element)];
      const float b = b_[static_cast<std::size_t>(element / sizes_.spatial % sizes_.channels)];
      out[i] = expectation(c, b);
    }
  }

 private:
  Sizes sizes_;
  std::span<const float> c_;
  std::span<const float> b_;
};

class ResidualEpilogue final : public Operator {
 public:
  std::string_view name() const override { return operator_name; }
  std::string_view summary() const override {
    return "y = ((c + b) + c) * c + c, c of shape [n,c,d,h,w], b of shape [c,1,1,1]";
  }
  std::string_view problem_help() const override {
    return "n=,c=,d=,h=,w= (the shape of c) or just N,C,D,H,W";
  }

  Problem parse_problem(std::string_view text) const override {
    if (text == "official") text = "n=16,c=64,d=32,h=64,w=64";
    if (text == "quick") text = "n=1,c=64,d=32,h=64,w=64";
    std::string full(text);
    if (!text.empty() && text.find('=') == std::string_view::npos) full = from_shorthand(text);
    Problem problem = parse_sizes(full, size_names);
    (void)element_count(tensors(problem).front().shape);  // refuses sizes that overflow
    return problem;
  }

  // Each extent at 1, at a prime, and on either side of a vector, a warp, a block and a grid's y and z.
  std::vector<Problem> awkward_problems(Battery battery) const override {
    switch (battery) {
      case Battery::timed: break;
      case Battery::quick:
        return parsed({"1,1,1,1,1", "1,3,1,1,7", "2,5,3,7,11", "3,64,1,1,33", "1,2,4,8,32",
                       "2,3,17,31,29", "1,1,1,1,4099", "129,2,1,1,3", "1,65537,1,1,3"});
      case Battery::full: return full_problems();
      case Battery::exhaustive:
        return parsed({"129,64,32,64,64", "257,64,32,64,64", "16,64,32,64,64", "65537,1,1,1,33",
                       "1,65537,1,1,33", "1,1,65537,1,33", "1,1,1,65537,33", "1,1,1,1,16777217"});
    }
    return {};
  }

  std::vector<Problem> small_problems() const override {
    return parsed({"2,5,3,7,11", "2,8,4,8,16", "1,1,1,1,1", "3,64,1,1,33"});
  }

  std::vector<InputSet> input_sets() const override;

  std::vector<TensorSpec> tensors(const Problem& problem) const override {
    Shape shape;
    for (const std::string_view name : size_names) shape.push_back(problem.size(name));
    return {{"c", shape, TensorRole::input, {.stream = 1}},
            {"b",
             {problem.size("c"), 1, 1, 1},
             TensorRole::input,
             {.stream = 4, .scale = 4.0F, .offset = -2.0F}},
            {"y", shape, TensorRole::output, {}}};
  }

  std::int64_t useful_bytes(const Problem& problem) const override {
    const Sizes sizes = sizes_of(problem);
    return 4 * (2 * sizes.elements() + sizes.channels);
  }
  // ((c + b) + c) * c + c
  std::int64_t flops(const Problem& problem) const override {
    return 4 * sizes_of(problem).elements();
  }

  std::unique_ptr<Oracle> oracle(const Problem& problem,
                                 std::span<const std::span<const float>> inputs) const override {
    return std::make_unique<EpilogueOracle>(sizes_of(problem), inputs[tensor_c], inputs[tensor_b]);
  }

  std::string device_oracle() const override { return "reference/residual_epilogue_oracle.hd.hpp"; }

  // docs/verification.md derives it: what rounding c and b to the format costs, and 8 u G + 2^-146 for
  // the float32 arithmetic, twice the first-order worst case, which leaves room for the algebraic forms.
  ErrorBound bound(Precision precision) const override {
    const OperandFormat format = operand_format(precision);
    // dy/dc is 4c + b + 1, dy/db is c.
    return {format.relative + 8 * 0x1p-24,
            0x1p-146 + (format.absolute == 0.0 ? 0.0 : format.absolute * (6 * format.most + 1))};
  }

 private:
  [[nodiscard]] std::vector<Problem> parsed(std::initializer_list<const char*> shapes) const {
    std::vector<Problem> problems;
    for (const char* shape : shapes) problems.push_back(parse_problem(shape));
    return problems;
  }

  [[nodiscard]] std::vector<Problem> full_problems() const {
    std::vector<Problem> problems;
    const std::array<std::int64_t, 5> usual = {2, 6, 3, 5, 8};
    for (std::size_t extent = 0; extent < usual.size(); ++extent) {
      for (const std::int64_t size : {1, 3, 5, 7, 31, 33, 127, 128, 129}) {
        std::array<std::int64_t, 5> sizes = usual;
        sizes[extent] = size;
        std::vector<std::pair<std::string, std::int64_t>> pairs;
        for (std::size_t i = 0; i < sizes.size(); ++i) pairs.emplace_back(size_names[i], sizes[i]);
        problems.emplace_back(std::move(pairs));
      }
    }
    for (Problem& more : parsed({"1,2,1,1,65535", "1,2,1,1,65537", "65537,1,1,1,3", "257,64,1,1,4",
                                 "1,1,1,1,1048577"})) {
      problems.push_back(std::move(more));
    }
    return problems;
  }

  static std::string from_shorthand(std::string_view text) {
    std::string full;
    std::size_t used = 0;
    for (std::string_view rest = text;; ++used) {
      const std::string_view piece = rest.substr(0, rest.find(','));
      if (used >= size_names.size() || piece.empty()) break;
      full += (used == 0 ? "" : ",") + std::string(size_names[used]) + "=" + std::string(piece);
      if (piece.size() == rest.size()) {
        if (used + 1 == size_names.size()) return full;
        break;
      }
      rest.remove_prefix(piece.size() + 1);
    }
    throw Error("--problem '{}': write quick, official, five numbers N,C,D,H,W, or n=,c=,d=,h=,w=",
                text);
  }
};

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

InputRecipe c_from(Draw draw, float scale = 1.0F, float offset = 0.0F) {
  return {.stream = 1, .scale = scale, .offset = offset, .draw = draw};
}
InputRecipe b_from(Draw draw, float scale = 1.0F, float offset = 0.0F) {
  return {.stream = 4, .scale = scale, .offset = offset, .draw = draw};
}
InputRecipe sprinkled(InputRecipe recipe, float value) {
  recipe.sprinkled = true;
  recipe.sprinkle = value;
  return recipe;
}

std::vector<InputSet> ResidualEpilogue::input_sets() const {
  const InputRecipe c = c_from(Draw::uniform);
  const InputRecipe b = b_from(Draw::uniform, 4.0F, -2.0F);
  std::vector<InputSet> sets;
  for (const float scale : {1e-3F, 1.0F, 10.0F, 100.0F}) {
    sets.push_back({fmt::format("normal at scale {:g}", scale),
                    {c_from(Draw::normal, scale), b_from(Draw::normal, scale)}});
  }
  const auto add = [&](const char* name, const InputRecipe& of_c, const InputRecipe& of_b) {
    sets.push_back({name, {of_c, of_b}});
  };
  sets.push_back(
      {"integers", {c_from(Draw::integer), b_from(Draw::integer)}, /*exact_values=*/true});
  add("1 + k 2^-12", c_from(Draw::near_one), b_from(Draw::near_one));
  // 2c + b + 1 is about 2^-17 of its terms.
  add("cancellation", c_from(Draw::normal, 0x1p-18F, 0.375F), b_from(Draw::constant, -1.75F));
  add("wide magnitudes", c_from(Draw::wide), b_from(Draw::wide));
  add("bands of magnitudes", c_from(Draw::banded), b_from(Draw::banded));
  add("special values", c_from(Draw::special), b_from(Draw::special));
  add("subnormals", c_from(Draw::subnormal), b);
  add("subnormal bias", c, b_from(Draw::subnormal));
  add("zeros", c_from(Draw::constant, 0.0F), b);
  add("negative zeros", c_from(Draw::constant, -0.0F, -0.0F), b_from(Draw::constant, 0.0F));
  add("constants", c_from(Draw::constant, 0.7F), b_from(Draw::constant, -0.3F));
  add("NaN among c", sprinkled(c, nan), b);
  add("+Inf among c", sprinkled(c, infinity), b);
  add("-Inf among c", sprinkled(c, -infinity), b);
  add("NaN among b", c, sprinkled(b, nan));
  add("Inf among b", c, sprinkled(b, infinity));
  add("overflow", c_from(Draw::normal, 1e19F), b_from(Draw::normal, 1e19F));
  return sets;
}

const bool registered = registry().add(std::make_unique<ResidualEpilogue>());

}  // namespace

Sizes sizes_of(const Problem& problem) {
  return {problem.size("n") * problem.size("c"), problem.size("c"),
          problem.size("d") * problem.size("h") * problem.size("w")};
}

}  // namespace fusebench::residual_epilogue
