// A variant's tuning parameters: which values each may take, and one choice of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/expression.hpp"
#include "harness/core/value.hpp"

namespace fusebench {

/// One value for each tuning parameter, in the order in which the variant declares them.
/// Values are words or whole numbers, written as text: "block_size=256,load=streaming".
class Configuration {
 public:
  Configuration() = default;
  explicit Configuration(std::vector<std::pair<std::string, std::string>> values)
      : values_(std::move(values)) {}

  /// Throws Error when there is no such parameter or its value is not a whole number.
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  /// Throws Error when there is no such parameter.
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& values() const noexcept {
    return values_;
  }
  /// "block_size=256,load=streaming"; "default" when the variant has no parameters.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Configuration&, const Configuration&) = default;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

struct Parameter {
  std::string name;
  std::vector<std::string> values;
  std::string default_value;  ///< one of `values`
};

/// {64, 128} as the texts a Parameter holds.
[[nodiscard]] std::vector<std::string> integers(std::initializer_list<std::int64_t> values);

/// A parameter's value as a constraint sees it: a whole number where the text is one, else the text.
[[nodiscard]] Value parameter_value(const std::string& text);

/// What constraints may name beside parameters: of the problem and of the device, such as c or
/// shared_memory_bytes (properties.hpp).
using Properties = std::map<std::string, Value>;

/// The configurations of a variant: the product of its parameters' values, less those that a constraint turns
/// away. A constraint is an Expression over parameters and properties: "stages * tile_bytes <= shared_memory_bytes".
/// One that names a property which is not given, such as a device's where there is none, turns nothing away.
class ParameterSpace {
 public:
  ParameterSpace() = default;
  /// Throws Error when a default is not among its values, a name occurs twice, a constraint is no expression, or
  /// the default configuration breaks one that names parameters alone.
  explicit ParameterSpace(std::vector<Parameter> parameters,
                          const std::vector<std::string>& constraints = {});

  [[nodiscard]] const std::vector<Parameter>& parameters() const noexcept { return parameters_; }
  [[nodiscard]] const std::vector<Expression>& constraints() const noexcept { return constraints_; }
  [[nodiscard]] Configuration default_configuration() const;
  /// Every valid configuration, the last parameter varying fastest.
  [[nodiscard]] std::vector<Configuration> all(const Properties& properties = {}) const;
  /// The default with the given "key=value,..." changes; "default" changes nothing. Throws Error for an unknown key or value,
  /// listing those there are, and for a combination that a constraint turns away, quoting the constraint.
  [[nodiscard]] Configuration parse(std::string_view text, const Properties& properties = {}) const;
  /// What `--configuration` names: "default", "all", or "key=value,..." where a value may be "a|b" or
  /// "*" for several; keys that are not named keep their default. Throws Error as parse() does, and
  /// when nothing is left.
  [[nodiscard]] std::vector<Configuration> select(std::string_view text,
                                                  const Properties& properties = {}) const;
  /// The constraint that turns a configuration away, with the properties it names, for messages: "'a <= b' (b is
  /// 3)"; empty when it is valid. Throws Error where a constraint cannot be evaluated.
  [[nodiscard]] std::string broken_by(const Configuration& configuration,
                                      const Properties& properties = {}) const;

 private:
  [[nodiscard]] std::vector<Configuration> product(
      const std::vector<std::vector<std::string>>& values, const Properties& properties) const;
  [[nodiscard]] std::size_t position(std::string_view name) const;
  void require(const Parameter& parameter, std::string_view value) const;

  std::vector<Parameter> parameters_;
  std::vector<Expression> constraints_;
};

/// Splits "a=1,b=2" into pairs. Throws Error, naming `what` and the piece, when a piece has no '='.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parse_key_values(
    std::string_view what, std::string_view text);

/// Reads a whole number that fits 64 bits. Throws Error, naming `what`, otherwise.
[[nodiscard]] std::int64_t parse_integer(std::string_view what, std::string_view text);

}  // namespace fusebench
