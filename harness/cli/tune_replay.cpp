#include "harness/cli/tune_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>

#include "harness/cli/commands.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/output_files.hpp"
#include "harness/cli/table.hpp"
#include "harness/core/error.hpp"
#include "harness/record/csv_writer.hpp"
#include "harness/tune/budget.hpp"
#include "harness/tune/replay.hpp"

namespace fusebench {
namespace {

constexpr double near = 1.005;

// Runs whose find is within half a percent of the optimum.
std::size_t runs_near(const StrategyScore& score, const Yardstick& yardstick) {
  return static_cast<std::size_t>(
      std::count_if(score.found_ns.begin(), score.found_ns.end(),
                    [&](double ns) { return ns <= near * yardstick.optimum_ns(); }));
}

std::string curves_path(const std::string& csv) {
  const std::filesystem::path path(csv);
  return (path.parent_path() / (path.stem().string() + ".curves" + path.extension().string()))
      .string();
}

// Scores, one row a strategy and space, and the curves behind them, one row a point.
class ReplayFiles {
 public:
  explicit ReplayFiles(const std::string& csv)
      : scores_(csv, {"space", "strategy", "configurations", "optimum_ns", "budget_draws",
                      "repeats", "seed", "score", "score_standard_error", "score_by_cost",
                      "score_by_cost_standard_error", "mean_found_ns", "worst_found_ns",
                      "runs_within_half_a_percent"}),
        curves_(curves_path(csv), {"space", "strategy", "draws", "mean_found_ns", "random_ns",
                                   "median_ns", "optimum_ns", "gain"}) {}

  void append(const std::string& space, const RecordedSpace& recorded, const Yardstick& yardstick,
              const ReplayOptions& options, const StrategyScore& score) {
    const auto number = [](double value) { return fmt::format("{:.6g}", value); };
    const bool scored = !yardstick.too_near_after();
    const auto of_score = [&](double value) { return scored ? number(value) : std::string(); };
    scores_.append({space, score.strategy, std::to_string(recorded.space.size()),
                    number(yardstick.optimum_ns()), std::to_string(yardstick.budget_draws()),
                    std::to_string(options.repeats), std::to_string(options.seed),
                    of_score(score.by_draws.mean), of_score(score.by_draws.standard_error),
                    of_score(score.by_cost.mean), of_score(score.by_cost.standard_error),
                    number(score.mean_found_ns.back()), number(score.worst_found_ns),
                    std::to_string(runs_near(score, yardstick))});
    scores_.sync();
    constexpr std::size_t most_points = 100;  // as many as a figure can show
    const std::size_t draws = yardstick.budget_draws();
    std::size_t last = 0;
    for (std::size_t point = 1; point <= most_points; ++point) {
      const std::size_t draw = (draws * point + most_points - 1) / most_points;
      if (draw == last) continue;
      last = draw;
      const double found = score.mean_found_ns[draw - 1];
      curves_.append({space, score.strategy, std::to_string(draw), number(found),
                      number(yardstick.random_ns(draw)), number(yardstick.median_ns()),
                      number(yardstick.optimum_ns()),
                      yardstick.is_too_near(draw) ? "" : number(yardstick.gain(draw, found))});
    }
    curves_.sync();
  }

 private:
  CsvFile scores_;
  CsvFile curves_;
};

std::vector<std::string> chosen_strategies(const ReplayOptions& options) {
  std::vector<std::string> names;
  for (const StrategyInfo& info : strategies()) {
    if (options.strategy == "all" || options.strategy == info.name) names.emplace_back(info.name);
  }
  if (names.empty()) {  // whose message lists those there are
    const SearchSpace one({{"a", {std::int64_t{1}}}}, std::vector<std::string>{});
    (void)make_strategy(options.strategy, one, {});
  }
  return names;
}

std::optional<std::size_t> draws_of(const std::string& text, const SearchSpace& space) {
  if (text.empty()) return std::nullopt;
  const Budget budget = parse_budget(text);
  if (budget.seconds)
    throw Error("--budget '{}': a replay counts draws; give a count or a share", text);
  return budget.most(space.size());
}

void check_output(const ReplayOptions& options) {
  if (options.csv.empty()) return;
  check_output_files(std::array{OutputFile{"--csv", options.csv},
                                OutputFile{"--csv, with its curves,", curves_path(options.csv)}},
                     options.files);
}

std::string with_error(const Estimate& estimate) {
  return fmt::format("{:.3f} +- {:.3f}", estimate.mean, estimate.standard_error);
}

}  // namespace

void tell_unclosed(const std::string& name) {
  fmt::print(stderr,
             "{}: the cache is not closed, so its search had not ended; read as far as it "
             "goes\n",
             name);
}

int replay_and_score(const ReplayOptions& options) {
  const std::vector<std::string> names = chosen_strategies(options);
  check_output(options);
  std::vector<NamedSpace> spaces;
  for (const std::string& file : options.files) {
    for (NamedSpace& one : read_recorded_spaces(file, options.filter))
      spaces.push_back(std::move(one));
  }
  std::vector<Yardstick> yardsticks;
  for (const NamedSpace& one : spaces) {
    yardsticks.emplace_back(one.recorded, options.cutoff,
                            draws_of(options.budget, one.recorded.space));
  }
  std::optional<ReplayFiles> files;
  if (!options.csv.empty()) files.emplace(options.csv);
  constexpr std::array<std::size_t, 1> left = {0};
  std::map<std::string, double> sums;
  bool all_scored = true;
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    const RecordedSpace& recorded = spaces[i].recorded;
    const Yardstick& yardstick = yardsticks[i];
    const std::string& name = spaces[i].name;
    const std::optional<std::size_t> too_near = yardstick.too_near_after();
    if (recorded.unclosed) tell_unclosed(name);
    const auto passed = std::count_if(recorded.observations.begin(), recorded.observations.end(),
                                      [](const Observation& o) { return o.passed(); });
    fmt::print(
        "{}: {} configurations, {} passed, optimum {}, median {}, budget {} draws of {:.3g} s\n",
        name, recorded.space.size(), passed, format_time(yardstick.optimum_ns()),
        format_time(yardstick.median_ns()), yardstick.budget_draws(),
        yardstick.draw_cost_ns() * 1e-9);
    std::vector<std::vector<std::string>> rows = {
        {"strategy", "P", "P by cost", "found", "worst", "within 0.5%", "seconds"}};
    for (const std::string& strategy : names) {
      const auto start = std::chrono::steady_clock::now();
      const StrategyScore score =
          score_strategy(recorded, yardstick, strategy, options.repeats, options.seed);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      const auto beside = [&](double ns) {
        return fmt::format("+{:.2f}%", std::max(0.0, 100.0 * (ns / yardstick.optimum_ns() - 1.0)));
      };
      rows.push_back({strategy, too_near ? "-" : with_error(score.by_draws),
                      too_near ? "-" : with_error(score.by_cost),
                      beside(score.mean_found_ns.back()), beside(score.worst_found_ns),
                      fmt::format("{}/{}", runs_near(score, yardstick), options.repeats),
                      fmt::format("{:.1f}", took.count())});
      sums[strategy] += score.by_draws.mean;
      if (files) files->append(name, recorded, yardstick, options, score);
      if (interrupt_requested()) throw Error("interrupted");
    }
    fmt::print("{}\n", align(rows, left));
    if (recorded.begin &&
        recorded.observations[*recorded.begin].time_ns == yardstick.optimum_ns()) {
      fmt::print(
          "each search begins with the default, which is the optimum here, so P says nothing "
          "of the strategies; --export-t4 leaves that start out\n\n");
    }
    if (!too_near) continue;
    all_scored = false;
    fmt::print("no P: after {} draws random search is expected within {:.1f}% of the way from the "
               "optimum to the median, where a gain over it is noise; give another --budget\n\n",
               *too_near, 100.0 * Yardstick::least_margin);
  }
  if (spaces.size() > 1 && all_scored) {
    std::vector<std::vector<std::string>> rows = {{"strategy", "mean P"}};
    for (const std::string& name : names) {
      rows.push_back(
          {name, fmt::format("{:.3f}", sums[name] / static_cast<double>(spaces.size()))});
    }
    fmt::print("{}\n", align(rows, left));
  }
  fmt::print("P: 1 is the optimum at once, 0 random search; {} repeats, seed {}. found, "
             "worst: the time at "
             "the end of the budget over the optimum, on average and of the worst repeat; within "
             "0.5%: repeats "
             "that came so near to it.\n",
             options.repeats, options.seed);
  return as_hoped;
}

}  // namespace fusebench
