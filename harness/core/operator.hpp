// An operator: a function on named tensors, with its problems, its oracle and its error bounds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// What one output element should be.
struct Expectation {
  float exact = 0.0F;      ///< float32, exact reference order
  double value = 0.0;      ///< float64 oracle
  double magnitude = 0.0;  ///< what the forward error bound scales with (G or K, see the operator)
  bool nan_input = false;  ///< a NaN entered, so only NaN may leave
};

/// |y - value| <= relative * magnitude + absolute.
struct ErrorBound {
  double relative = 0.0;
  double absolute = 0.0;
};

/// Computes expectations from the judge's own copy of the inputs. Safe to call from many threads.
class Oracle {
 public:
  virtual ~Oracle() = default;
  /// Fills `out` for output elements [first, first + out.size()).
  virtual void expect(std::int64_t first, std::span<Expectation> out) const = 0;
};

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
  /// Small problems with awkward sizes, verified beside the timed one.
  [[nodiscard]] virtual std::vector<Problem> odd_problems() const = 0;

  /// Inputs in the order that variants index them by, then the one output.
  [[nodiscard]] virtual std::vector<TensorSpec> tensors(const Problem& problem) const = 0;
  /// Bytes that any implementation must move: each input read once, the output written once.
  [[nodiscard]] virtual std::int64_t useful_bytes(const Problem& problem) const = 0;

  /// `inputs` are the input tensors in order and outlive the oracle.
  [[nodiscard]] virtual std::unique_ptr<Oracle> oracle(
      const Problem& problem, std::span<const std::span<const float>> inputs) const = 0;
  /// The forward error bound of a contract. Throws Error for a contract the operator has no bound
  /// for; never called for exact_order, which means bit equality.
  [[nodiscard]] virtual ErrorBound bound(Precision precision) const = 0;
};

/// Reads "key=value,..." with exactly the keys `names`, each at least 1. Throws Error otherwise.
[[nodiscard]] Problem parse_sizes(std::string_view text, std::span<const std::string_view> names);

}  // namespace fusebench
