// How a time as budget is shared: by the searches of a command, and by each search and its final.
#pragma once

#include <cstddef>
#include <optional>

namespace fusebench {

/// Times are seconds since the command began. Without a budget nothing ever ends.
class TimeShares {
 public:
  TimeShares(std::optional<double> budget_seconds, std::size_t searches)
      : budget_(budget_seconds), searches_(searches) {}

  /// It is `now`, and the turn of `search`, counted from 0. Each has an equal part of what those before it have left.
  void at(std::size_t search, double now);
  /// A configuration of this search was measured, battery and all, which a step of its final takes at most.
  void add_step(double seconds);

  /// Whether the search must end for its final to come: of `finalists` beside two favourites, no more than the `known`. A final has
  /// at most half of the share, for what was not found it cannot choose.
  [[nodiscard]] bool search_is_over(std::size_t finalists, std::size_t known) const;
  /// How many of `wanted` finalists all rounds have time for, beside two favourites, and at least one; none where the
  /// least rounds of two have none.
  [[nodiscard]] std::size_t finalists(std::size_t wanted) const;
  [[nodiscard]] bool is_up() const { return budget_ && left() < 0.0; }

 private:
  [[nodiscard]] double left() const { return end_ - now_; }
  [[nodiscard]] double step_seconds() const;

  std::optional<double> budget_;
  std::size_t searches_;
  std::optional<std::size_t> search_;
  double now_ = 0.0;
  double share_ = 0.0;
  double end_ = 0.0;
  double spent_ = 0.0;
  std::size_t steps_ = 0;
};

}  // namespace fusebench
