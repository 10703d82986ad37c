// A space to search: parameters with their values, less what the constraints turn away; every valid configuration by its index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/core/parameters.hpp"
#include "harness/core/value.hpp"

namespace fusebench {

struct SpaceParameter {
  std::string name;
  std::vector<Value> values;  ///< in the order in which neighbours lie beside each other
};

/// Every valid configuration of a space, in lexicographic order of the values' places, the last parameter varying
/// fastest. A configuration is known by its index, from 0 to size() - 1, and as a row: for each parameter the
/// place of its value.
class SearchSpace {
 public:
  using Place = std::uint16_t;
  using Row = std::span<const Place>;

  /// Throws Error when a parameter has no value, one twice, or is declared twice; when a constraint is no
  /// expression, names what is neither a parameter nor a property, or cannot be evaluated; and when nothing
  /// is left, naming the constraint that turns everything away where one alone does.
  SearchSpace(std::vector<SpaceParameter> parameters, const std::vector<std::string>& constraints,
              const Properties& properties = {});
  /// Exactly the given rows, which need not be sorted. Throws Error when there is none, or one twice.
  [[nodiscard]] static SearchSpace of_rows(std::vector<SpaceParameter> parameters,
                                           const std::vector<std::vector<Place>>& rows);

  [[nodiscard]] const std::vector<SpaceParameter>& parameters() const noexcept {
    return parameters_;
  }
  /// How many valid configurations there are.
  [[nodiscard]] std::size_t size() const noexcept { return rows_.size() / width_; }
  /// The product of the numbers of values: what there would be without constraints.
  [[nodiscard]] double raw_size() const;

  [[nodiscard]] Row row(std::size_t index) const {
    return Row(rows_).subspan(index * width_, width_);
  }
  /// The values, one for each parameter.
  [[nodiscard]] std::vector<Value> values(std::size_t index) const;
  /// "block_size=256,load=streaming".
  [[nodiscard]] std::string to_string(std::size_t index) const;
  /// The index of a row; nothing where it is not valid.
  [[nodiscard]] std::optional<std::size_t> index_of(Row row) const;
  /// The place of a value among a parameter's; nothing where it is not among them. 1, 1.0 and True are one.
  [[nodiscard]] std::optional<Place> place_of(std::size_t parameter, const Value& value) const;

  /// Whether a parameter's values lie in an order that means something: numbers that rise or fall, more
  /// than two of them.
  [[nodiscard]] bool is_ordinal(std::size_t parameter) const { return ordinal_[parameter]; }

  /// The valid configurations that differ in one parameter, by any amount.
  [[nodiscard]] std::vector<std::size_t> neighbours(std::size_t index) const;
  /// Those of them that differ by one step in an ordinal parameter, or at all in another.
  [[nodiscard]] std::vector<std::size_t> near_neighbours(std::size_t index) const;

 private:
  explicit SearchSpace(std::vector<SpaceParameter> parameters);
  void check_parameters();
  void sort_rows();

  std::vector<SpaceParameter> parameters_;
  std::vector<bool> ordinal_;
  std::size_t width_ = 1;
  std::vector<Place> rows_;  // one after another, sorted
};

}  // namespace fusebench
