// An operator: a function on named tensors, with its problems, its oracle and its error bounds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/expectation.hd.hpp"
#include "harness/core/outcome.hpp"
#include "harness/core/tensor.hpp"

namespace fusebench {

/// An operator at given sizes, as ordered (name, value) pairs.
class Problem {
 public:
  Problem() = default;
  explicit Problem(std::vector<std::pair<std::string, std::int64_t>> sizes)
      : sizes_(std::move(sizes)) {}

  /// Throws Error when there is no such size.
  [[nodiscard]] std::int64_t size(std::string_view name) const;
  /// "n=1,c=64,d=32,h=64,w=64": what `--problem` accepts and the CSV holds.
  [[nodiscard]] std::string to_string() const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::int64_t>>& sizes() const noexcept {
    return sizes_;
  }
  friend bool operator==(const Problem&, const Problem&) = default;

 private:
  std::vector<std::pair<std::string, std::int64_t>> sizes_;
};

/// Computes expectations from the judge's own copy of the inputs. Safe to call from many threads.
class Oracle {
 public:
  virtual ~Oracle() = default;
  /// Fills `out` for output elements [first, first + out.size()).
  virtual void expect(std::int64_t first, std::span<Expectation> out) const = 0;
};

/// How thoroughly to verify: only what is timed, for what was verified before; before a timing; as a matter of
/// course; and with all the time in the world. Each includes the ones before it.
enum class Battery { timed, quick, full, exhaustive };

[[nodiscard]] std::string_view to_string(Battery battery) noexcept;
/// Throws Error naming the text when it is none of them.
[[nodiscard]] Battery parse_battery(std::string_view text);

/// A recipe for each input, in order, under a name for messages.
struct InputSet {
  std::string name;
  std::vector<InputRecipe> recipes;
  bool exact_values =
      false;  ///< every order and every FMA gives the same value: no error is allowed
};

/// What holding an operand x in a contract's format costs: its value is off by at most
/// relative / 2 |x| + absolute. A sum of products of two such operands is off by relative times the
/// magnitude G or K, while every operand's magnitude is at most `most`, for which the underflow term was
/// derived (docs/verification.md). exact_order and float32: nothing, and every float.
struct OperandFormat {
  double relative = 0.0;
  double absolute = 0.0;
  double most = 0x1.fffffep+127;
};
[[nodiscard]] OperandFormat operand_format(Precision precision) noexcept;

class Operator {
 public:
  virtual ~Operator() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  /// One line: the formula.
  [[nodiscard]] virtual std::string_view summary() const = 0;
  /// The operator's own names for its sizes and shorthand, for `--help` and messages.
  [[nodiscard]] virtual std::string_view problem_help() const = 0;

  /// Reads "quick", "official", "key=value,..." or the operator's shorthand. Throws Error naming the
  /// size that is missing, unknown or out of range.
  [[nodiscard]] virtual Problem parse_problem(std::string_view text) const = 0;
  /// Problems with awkward sizes, verified beside the timed one: each battery's own, without those of
  /// the batteries it includes; none for `timed`.
  [[nodiscard]] virtual std::vector<Problem> awkward_problems(Battery battery) const = 0;
  /// Small problems on which inputs and placements vary; the first for every battery, all for full.
  [[nodiscard]] virtual std::vector<Problem> small_problems() const = 0;
  /// What inputs are made of beside the recipes of tensors().
  [[nodiscard]] virtual std::vector<InputSet> input_sets() const = 0;

  /// Inputs in the order that variants index them by, then the one output. How many there are does not
  /// depend on the problem; a tensor that a problem does without has no elements.
  [[nodiscard]] virtual std::vector<TensorSpec> tensors(const Problem& problem) const = 0;
  /// Bytes that any implementation must move: each input read once, the output written once.
  [[nodiscard]] virtual std::int64_t useful_bytes(const Problem& problem) const = 0;
  /// Floating-point operations that the definition asks for, an addition or a multiplication each. What an
  /// implementation saves, or does besides (three products for one), does not count.
  [[nodiscard]] virtual std::int64_t flops(const Problem& problem) const = 0;

  /// operand_format(precision), where the operator's bounds hold for a wider range of operands than that with
  /// that one as `most`.
  [[nodiscard]] virtual OperandFormat format_of(Precision precision) const noexcept {
    return operand_format(precision);
  }

  /// `inputs` are the input tensors in order and outlive the oracle.
  [[nodiscard]] virtual std::unique_ptr<Oracle> oracle(
      const Problem& problem, std::span<const std::span<const float>> inputs) const = 0;
  /// A .hd.hpp among the embedded sources that defines, in namespace fusebench,
  /// `Expectation expect(const OracleArguments&, unsigned long long index)` for a device; empty when
  /// outputs can be judged on the host only.
  [[nodiscard]] virtual std::string device_oracle() const { return ""; }
  /// Does that header read InputSource::values, rather than make each value it needs?
  [[nodiscard]] virtual bool device_oracle_reads_inputs() const { return false; }
  /// OracleArguments::sizes for that header: the problem's, in order.
  [[nodiscard]] virtual std::vector<std::int64_t> device_oracle_sizes(const Problem& problem) const;
  /// The forward error bound of a contract. Throws Error for a contract the operator has no bound
  /// for; never called for exact_order, which means bit equality.
  [[nodiscard]] virtual ErrorBound bound(Precision precision) const = 0;
};

/// Reads "key=value,..." with exactly the keys `names`, each at least 1. Throws Error otherwise.
[[nodiscard]] Problem parse_sizes(std::string_view text, std::span<const std::string_view> names);

}  // namespace fusebench
