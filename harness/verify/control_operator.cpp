#include "harness/verify/control_operator.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

class ControlOracle final : public Oracle {
 public:
  ControlOracle(int streams, std::span<const float> from) : streams_(streams), from_(from) {}
  void expect(std::int64_t first, std::span<Expectation> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const float value = streams_ == 2 ? from_[static_cast<std::size_t>(first) + i]
                                        : std::bit_cast<float>(fill_word);
      out[i] = {value, value, 0.0, false};
    }
  }

 private:
  int streams_;
  std::span<const float> from_;
};

class ControlOperator final : public Operator {
 public:
  explicit ControlOperator(int streams) : streams_(streams) {}

  std::string_view name() const override { return control_operator; }
  std::string_view summary() const override { return streams_ == 2 ? "y = x" : "y = 1.5"; }
  std::string_view problem_help() const override { return "elements="; }
  Problem parse_problem(std::string_view text) const override {
    constexpr std::array<std::string_view, 1> names = {"elements"};
    return control_problem(parse_sizes(text, names).size("elements"));
  }
  std::vector<Problem> awkward_problems(Battery) const override { return {}; }
  std::vector<Problem> small_problems() const override { return {}; }
  std::vector<InputSet> input_sets() const override { return {}; }

  std::vector<TensorSpec> tensors(const Problem& problem) const override {
    const Shape shape = {problem.size("elements")};
    return {{"from", shape, TensorRole::input, {.stream = 1}},
            {"to", shape, TensorRole::output, {}}};
  }
  std::int64_t useful_bytes(const Problem& problem) const override {
    return streams_ * problem.size("elements") * static_cast<std::int64_t>(sizeof(float));
  }
  std::int64_t flops(const Problem&) const override { return 0; }  // a control's own
  std::unique_ptr<Oracle> oracle(const Problem&,
                                 std::span<const std::span<const float>> inputs) const override {
    return std::make_unique<ControlOracle>(streams_, inputs[0]);
  }
  std::vector<std::int64_t> device_oracle_sizes(const Problem& problem) const override {
    return {problem.size("elements"), streams_};
  }
  std::string device_oracle() const override { return "harness/verify/control_oracle.hd.hpp"; }
  ErrorBound bound(Precision precision) const override {
    throw Error("a control has no error bound for precision {}", to_string(precision));
  }

 private:
  int streams_;
};

}  // namespace

const Operator& control_as_operator(int streams) {
  static const ControlOperator writes(1);
  static const ControlOperator reads_and_writes(2);
  return streams == 1 ? writes : reads_and_writes;
}

Control find_control(Device& device, const std::string& name) {
  const std::vector<Control> controls = device.controls();
  const auto found = std::find_if(controls.begin(), controls.end(),
                                  [&](const Control& control) { return control.name == name; });
  if (found == controls.end()) throw Error("no control '{}' on this device", name);
  return *found;
}

Problem control_problem(std::int64_t elements) { return Problem({{"elements", elements}}); }

}  // namespace fusebench
