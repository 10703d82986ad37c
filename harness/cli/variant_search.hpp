// One variant's search: what to measure next, what is known, and the final between the best.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/contest.hpp"
#include "harness/session/session.hpp"
#include "harness/tune/search_space.hpp"
#include "harness/tune/strategy.hpp"
#include "harness/tune/tuning_log.hpp"

namespace fusebench {

/// What a search has ended with.
struct Champion {
  std::string configuration;  ///< empty where none passed
  double median_ns = 0.0;
  double default_ratio = 0.0;  ///< the default's time over it; 0 where the default has none
  std::optional<Interval> of_ratio =
      {};                              ///< of that ratio, at 98%, where a final had all its rounds
  std::vector<std::string> ties = {};  ///< that could not be told from it
  bool kept_default = false;  ///< it is the default, from which what was faster cannot be told
};

class VariantSearch {
 public:
  static constexpr std::size_t rounds =
      7;  ///< of a final: the median's interval is their whole range, at 98%
  static constexpr std::size_t least_rounds =
      3;  ///< of one that is ended early: fewer decide nothing

  /// `item` is of the default configuration; `basis` is what it is measured with.
  VariantSearch(Item item, SearchSpace space, std::size_t budget, TuningBasis basis);
  VariantSearch(const VariantSearch&) = delete;
  VariantSearch& operator=(const VariantSearch&) = delete;

  /// `first`, what is known to be good, is measured after the default and before the strategy is asked, and enters the final;
  /// unknown ones are left out.
  void begin(const std::string& strategy, std::uint64_t seed,
             const std::vector<std::string>& first);
  /// Takes up what a log knows: what became of a configuration in a search, or its failure in a final, which outweighs that it
  /// had passed. False where it is of another basis, no configuration, or known already.
  bool take_up(const TuningEntry& entry);
  /// Why an entry of this variant is not to be taken up: it was measured of or with something else, or is no configuration.
  /// Empty where none of this holds.
  [[nodiscard]] std::string obstacle_to(const TuningEntry& entry) const;
  [[nodiscard]] bool knows(const std::string& configuration) const;

  /// The next configuration of the search; nothing at its end. The default and the first ones come whatever the budget, and
  /// nothing else where `first_only`.
  [[nodiscard]] std::optional<std::size_t> propose(bool first_only = false);
  void learn(std::size_t index, const std::string& outcome, double median_ns,
             const std::vector<double>& samples_ns);
  /// Configurations whose kernels are likely to be needed, the likeliest first: what is proposed already, what lies beside
  /// the best, then others, as far as the budget makes it worth while. `is_known` tells which need not be named.
  [[nodiscard]] std::vector<Configuration> likely(
      std::size_t most, const std::function<bool(const Configuration&)>& is_known);

  /// Ends the search: the `most` best, the default and the first ones that passed enter the final, where there is something to
  /// decide.
  void begin_final(std::size_t most);
  /// The next of the final, in rounds that go forth and back; nothing at its end.
  [[nodiscard]] std::optional<std::size_t> next_in_final();
  /// What next_in_final() asked for: its time, or nothing where it failed, with the outcome. Then it leaves the final and is
  /// counted as failed.
  void learn_in_final(std::optional<double> median_ns, const std::string& outcome = "failed");
  [[nodiscard]] std::size_t final_steps() const;
  [[nodiscard]] std::size_t final_steps_left() const;
  /// Rounds that all who have not failed came through: what a final that is ended early is decided by.
  [[nodiscard]] std::size_t final_rounds() const;
  /// Whether failures have left a final without the best that still passes, so that another must decide.
  [[nodiscard]] bool needs_another_final() const;
  /// By the final; where nobody came through three rounds of one, the best median of the search that no final has found
  /// failing. The default, where it is in the final and cannot be told from who is faster.
  [[nodiscard]] Champion champion() const;
  /// Whether it was measured, in this search or in the log, and has not failed since.
  [[nodiscard]] bool has_passed(const std::string& configuration) const;
  /// A line of the log for each who came through the final.
  [[nodiscard]] std::vector<TuningEntry> final_entries() const;

  [[nodiscard]] const Item& item() const noexcept { return item_; }
  [[nodiscard]] const SearchSpace& space() const noexcept { return space_; }
  [[nodiscard]] const TuningBasis& basis() const noexcept { return basis_; }
  [[nodiscard]] std::size_t budget() const noexcept { return budget_; }
  [[nodiscard]] std::size_t done() const noexcept { return known_.size(); }
  [[nodiscard]] std::size_t left() const noexcept { return budget_ - std::min(budget_, done()); }
  [[nodiscard]] const std::map<std::string, std::size_t>& failures() const { return failures_; }
  [[nodiscard]] std::optional<double> best_ns() const;
  [[nodiscard]] std::optional<double> default_ns() const;
  [[nodiscard]] Configuration configuration(std::size_t index) const;

 private:
  struct Passed {
    std::size_t index = 0;
    double median_ns = 0.0;
    Interval interval;
  };
  struct Contestant {
    std::size_t index = 0;
    std::vector<double> times_ns = {};
    bool failed = false;
  };
  [[nodiscard]] const Passed* find(std::optional<std::size_t> index) const;
  [[nodiscard]] const Passed* best() const;
  [[nodiscard]] Contestant& in_turn();
  [[nodiscard]] std::vector<const Contestant*> survivors() const;
  [[nodiscard]] std::vector<double> whole_rounds_of(const Contestant& one) const;
  [[nodiscard]] bool is_contestant(std::size_t index) const;
  void fail(std::size_t index, const std::string& outcome);

  Item item_;
  SearchSpace space_;
  std::size_t budget_;
  TuningBasis basis_;
  std::optional<std::size_t> default_;
  std::unique_ptr<Strategy> strategy_;
  bool learns_ = true;
  std::vector<std::size_t> favourites_;  // they enter the final
  std::deque<std::size_t> first_;        // they are measured whatever the budget
  std::deque<std::size_t>
      ahead_;  // proposed before they are needed, by a strategy that no answer changes
  std::vector<std::size_t> walk_;  // the order in which kernels are compiled on suspicion
  std::size_t walked_ = 0;
  std::map<std::size_t, std::string> known_;  // outcomes
  std::vector<Passed> passed_;
  std::map<std::string, std::size_t> failures_;
  std::vector<Contestant> final_;
  std::size_t step_ = 0;
};

}  // namespace fusebench
