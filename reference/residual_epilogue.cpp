// The oracle and the problems of residual_epilogue. Plain loops, no cleverness.
#include "reference/residual_epilogue.hpp"

#include <array>
#include <cmath>
#include <memory>
#include <string>

#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"

#ifdef __FAST_MATH__
#error "the reference must not be compiled with -ffast-math"
#endif

namespace fusebench::residual_epilogue {
namespace {

// Keeps the compiler from fusing two steps into an FMA or reordering them: it must believe that the
// value may change here. -ffp-contract=off says the same, but a user's flags can override it.
inline float rounded(float value) noexcept {
#if defined(__x86_64__)
  asm("" : "+x"(value));
  return value;
#elif defined(__aarch64__)
  asm("" : "+w"(value));
  return value;
#else
  volatile float kept = value;
  return kept;
#endif
}

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
      out[i] = {exact_order(c, b), oracle_value(c, b), magnitude(c, b),
                std::isnan(c) || std::isnan(b)};
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

  std::vector<Problem> odd_problems() const override {
    std::vector<Problem> problems;
    for (const char* shape : {"1,1,1,1,1", "1,3,1,1,7", "2,5,3,7,11", "3,64,1,1,33", "1,2,4,8,32",
                              "2,3,17,31,29", "1,1,1,1,4099"}) {
      problems.push_back(parse_problem(shape));
    }
    return problems;
  }

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

  std::unique_ptr<Oracle> oracle(const Problem& problem,
                                 std::span<const std::span<const float>> inputs) const override {
    return std::make_unique<EpilogueOracle>(sizes_of(problem), inputs[tensor_c], inputs[tensor_b]);
  }

  // 8 u G + 2^-146: twice the first-order worst case, which leaves room for the algebraic forms
  // (3.4 u G at most seen over six distributions), and two units of the last subnormal place for
  // results that underflow.
  ErrorBound bound(Precision precision) const override {
    if (precision == Precision::float32) return {8 * 0x1p-24, 0x1p-146};
    throw Error("residual_epilogue has no error bound for precision {}", to_string(precision));
  }

 private:
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

const bool registered = registry().add(std::make_unique<ResidualEpilogue>());

}  // namespace

Sizes sizes_of(const Problem& problem) {
  return {problem.size("n") * problem.size("c"), problem.size("c"),
          problem.size("d") * problem.size("h") * problem.size("w")};
}

float exact_order(float c, float b) noexcept {
  const float biased = rounded(c + b);
  const float doubled = rounded(biased + c);
  const float scaled = rounded(doubled * c);
  return rounded(scaled + c);
}

double oracle_value(double c, double b) noexcept { return ((c + b) + c) * c + c; }

double magnitude(double c, double b) noexcept {
  return std::abs(c) * (2.0 * std::abs(c) + std::abs(b) + 1.0);
}

}  // namespace fusebench::residual_epilogue
