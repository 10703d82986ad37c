// fusebench tune: search a space of configurations for the fastest; or only count it, or replay a recorded one.
#include <fmt/format.h>

#include <array>
#include <memory>

#include "harness/cli/commands.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/output_files.hpp"
#include "harness/cli/tune_live.hpp"
#include "harness/cli/tune_modes.hpp"
#include "harness/cli/tune_replay.hpp"
#include "harness/core/error.hpp"
#include "harness/record/whole_file.hpp"
#include "harness/tune/recorded_space.hpp"
#include "harness/tune/strategy.hpp"
#include "harness/tune/t1.hpp"

namespace fusebench {
namespace {

struct TuneOptions : ReplayOptions {
  std::string space;
  bool count = false;
  bool score = false;
  std::string import;
  std::string export_t4;
  std::string log;
  std::string wisdom = "results/wisdom";
  bool no_wisdom = false;
  bool chose_wisdom = false;
  std::size_t finalists = 8;
  std::size_t compilers = 0;
  RunOptions run;  // of a search on a device
};

int count(const TuneOptions& options) {
  const SearchSpace space = read_t1(options.space);
  fmt::print("{} of {:.0f} combinations are valid configurations\n", space.size(),
             space.raw_size());
  return as_hoped;
}

int convert(const TuneOptions& options) {
  if (options.export_t4.empty()) {
    throw Error("--import {}: nothing to do with it; give --export-t4 FILE, or --replay it",
                options.import);
  }
  const std::vector<NamedSpace> spaces = read_recorded_spaces(options.import, options.run.filter);
  if (spaces.size() > 1) {
    throw Error(
        "--import {}: it has {} variants, and T4 holds one; choose it with --filter, such as "
        "--filter '{}$'",
        options.import, spaces.size(), spaces.front().name);
  }
  const RecordedSpace& recorded = spaces.front().recorded;
  check_output_files(std::array{OutputFile{"--export-t4", options.export_t4}},
                     std::array{options.import});
  if (recorded.unclosed) tell_unclosed(options.import);
  write_whole_file(options.export_t4, t4_text(recorded));
  fmt::print("{} configurations written to {}\n", recorded.space.size(), options.export_t4);
  return as_hoped;
}

int tune(const TuneOptions& options) {
  if (!options.space.empty()) return count(options);
  if (!options.import.empty()) return convert(options);
  if (!options.files.empty()) {
    ReplayOptions replayed = options;
    replayed.filter = options.run.filter;
    return replay_and_score(replayed);
  }
  LiveOptions live{.run = options.run,
                   .strategy = options.strategy,
                   .budget = options.budget,
                   .log = options.log,
                   .wisdom = options.no_wisdom ? "" : options.wisdom,
                   .chose_wisdom = options.chose_wisdom,
                   .finalists = options.finalists,
                   .compilers = options.compilers};
  if (options.strategy == "all") throw Error("--strategy all is for --replay; choose one");
  live.run.given_seed = options.seed;
  live.run.csv = options.csv;
  return tune_variants(live);
}

}  // namespace

Command add_tune_command(CLI::App& program) {
  auto options = std::make_shared<TuneOptions>();
  options->strategy = default_strategy();
  CLI::App* app =
      program.add_subcommand("tune", "Search a space of configurations for the fastest");
  app->add_option("--space", options->space, "a T1 file, which describes a space")
      ->type_name("FILE");
  app->add_flag("--count", options->count, "say how many configurations --space has");
  app->add_option(
         "--replay", options->files,
         "search recorded spaces without a device: tuning logs (--filter chooses variants), "
         "Kernel Tuner cache files or T4, plain or gzipped")
      ->type_name("FILE");
  app->add_option("--strategy", options->strategy, "the search strategy, or all")
      ->capture_default_str();
  app->add_option(
         "--budget", options->budget,
         "200 configurations, 10% of the space, or 5m for the whole command with its finals "
         "(default: a tenth of the space and at least 32; of --replay the methodology's)")
      ->type_name("N|N%|TIME");
  app->add_option("--repeats", options->repeats, "searches of --replay, each with its own seed")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app->add_flag("--score", options->score, "print the score of --replay, as it does anyway");
  app->add_option("--cutoff", options->cutoff,
                  "how near to the optimum the budget of --replay brings random search")
      ->check(CLI::Range(0.01, 0.999))
      ->capture_default_str();
  app->add_option("--seed", options->seed, "of the searches")
      ->check(whole_64_bits())
      ->capture_default_str();
  app->add_option("--csv", options->csv,
                  "write every result of this command as 'run' does, over what FILE holds or, with "
                  "--log, behind it (what the log knows is not written again); of --replay the "
                  "scores, and FILE's .curves.csv for scripts/report")
      ->type_name("FILE");
  app->add_option(
         "--import", options->import,
         "read a recorded space, a file as of --replay, to write it elsewhere; of a tuning "
         "log --filter chooses the variant")
      ->type_name("FILE");
  app->add_option("--export-t4", options->export_t4, "write it as T4")->type_name("FILE");
  RunOptions& run = options->run;
  run.SelectionOptions::add_to(*app);
  app->add_option("--problem", run.problem, "quick, official or sizes, as for 'run'")
      ->type_name("SIZES");
  app->add_option("--battery", run.battery,
                  "cases to verify each configuration on beside the timed problem: timed (none), "
                  "quick, full or exhaustive")
      ->check(CLI::IsMember({"timed", "quick", "full", "exhaustive"}))
      ->capture_default_str();
  app->add_option("--timeout", run.timeout_seconds, "seconds for one configuration, all phases")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  app->add_option("--max-samples", run.limits.max_samples, "most samples of one configuration")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app->add_option("--max-time", run.limits.max_seconds,
                  "most seconds of sampling one configuration")
      ->check(more_than_zero())
      ->capture_default_str();
  app->add_flag("--pin", run.pin, "tie CPU threads to cores");
  app->add_flag("--quiet", run.quiet, "print the best and errors only");
  app->add_option("--log", options->log,
                  "keep every configuration in FILE, a line each, and go on from it")
      ->type_name("FILE");
  app->add_option("--final", options->finalists,
                  "how many of the best are measured again, in turn; 0: the fastest median wins")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  app->add_option(
         "--compilers", options->compilers,
         "processes that compile ahead while the device measures (default: every processor "
         "but one)")
      ->check(CLI::Range(1, 1024));
  app->add_option("--wisdom", options->wisdom,
                  "the folder that keeps the best of each variant, device and problem, for 'run'")
      ->capture_default_str()
      ->type_name("DIR");
  app->add_flag("--no-wisdom", options->no_wisdom, "neither read nor keep wisdom");
  std::string footer = "Strategies:\n";
  for (const StrategyInfo& info : strategies()) {
    footer += fmt::format("  {:<11} {}\n", info.name, info.idea);
  }
  app->footer(footer + "\nExample: fusebench tune --filter cuda_float4 --budget 10% "
                       "--log tune.jsonl\n"
                       "Example: fusebench tune --space convolution_T1.json --count\n"
                       "Example: fusebench tune --replay convolution_A100.json.gz --strategy all "
                       "--repeats 100 --score");
  return {app, [options, app] {
            check_tune_options(*app);
            options->chose_wisdom = app->get_option("--wisdom")->count() > 0;
            return tune(*options);
          }};
}

}  // namespace fusebench
