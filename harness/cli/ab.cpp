// fusebench ab: two builds in turn, process by process, and what changed between them.
#include <fmt/format.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "harness/cli/commands.hpp"
#include "harness/cli/comparison_report.hpp"
#include "harness/cli/options.hpp"
#include "harness/core/error.hpp"
#include "harness/core/revision.hpp"
#include "harness/record/csv_reader.hpp"
#include "harness/record/csv_writer.hpp"
#include "harness/session/program.hpp"
#include "harness/session/provenance.hpp"

namespace fusebench {
namespace {

namespace fs = std::filesystem;

// What both programs are given as it stands; they know best what it may be.
constexpr std::array passed_on = {
    std::pair{"--operator", "only this operator (default: all)"},
    std::pair{"--filter", "only what matches REGEX in 'operator variant'"},
    std::pair{"--device", "cpu, cuda or all"},
    std::pair{"--problem", "as of 'run'"},
    std::pair{"--configuration",
              "as of 'run', but default where it is not given: what wisdom holds "
              "may change between two runs"},
    std::pair{"--battery", "as of 'run'"},
    std::pair{"--timeout", "as of 'run'"},
    std::pair{"--max-samples", "as of 'run'"},
    std::pair{"--max-time", "as of 'run'"},
    std::pair{"--target-width", "as of 'run'"}};

struct AbOptions : ComparisonOptions {
  std::string before;
  std::string after;
  int replicas = 10;
  std::map<std::string, std::string> passed;
  bool pin = false;
  bool quiet = false;
  std::optional<std::uint64_t> seed;
  std::string keep;
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "fusebench-ab-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw Error("cannot make a folder {}", pattern);
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// One of the two builds.
struct Build {
  std::string name, program;
  std::optional<std::string> commit = {};  // that its records name
  std::optional<CsvFile> kept = {};
  int processes = 0;
};

std::string kept_file(const AbOptions& options, const std::string& build) {
  return options.keep.empty() ? "" : (fs::path(options.keep) / (build + ".csv")).string();
}

class Match {
 public:
  Match(const AbOptions& options, std::uint64_t seed)
      : options_(options),
        seed_(seed),
        random_(seed),
        before_{.name = "old", .program = options.before},
        after_{.name = "new", .program = options.after},
        passed_(options.passed) {
    // Both builds are compared in the same configurations, whatever either would choose by itself.
    passed_.try_emplace("--configuration", "default");
  }

  Comparison play() {
    const Builds first = rounds(passed_);
    Comparison comparison = compare(first.before, first.after, options_.rules());
    const std::vector<SeriesId> again = to_confirm(comparison);
    if (again.empty()) return comparison;
    say("{} series again in fresh processes", again.size());
    ran_again_ = again.size();
    return compare_confirmed(first, rounds(narrowed_to(again)), options_.rules());
  }

  [[nodiscard]] std::size_t ran_again() const { return ran_again_; }

  // What was done before it went wrong; empty when nothing was.
  [[nodiscard]] std::string how_far() const {
    const int done = before_.processes + after_.processes;
    if (done == 0) return "";
    return fmt::format("; {} of {} processes were done, {}", done, planned_,
                       options_.keep.empty() ? "and --keep would have kept their records"
                                             : "their records are in " + options_.keep);
  }

 private:
  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) const {
    if (options_.quiet) return;
    fmt::print(stderr, "{}\n", fmt::format(format, std::forward<Args>(args)...));
  }

  // The options that choose these series, and as few others as they can.
  [[nodiscard]] std::map<std::string, std::string> narrowed_to(
      const std::vector<SeriesId>& ids) const {
    std::map<std::string, std::string> passed = passed_;
    std::set<std::string> names, configurations;  // one name may have thousands of configurations
    for (const SeriesId& id : ids) {
      names.insert(id.operator_name + " " + id.variant);
      configurations.insert(id.configuration);
    }
    constexpr std::size_t longest = 100'000;  // the system takes 128 KiB in one argument
    std::string filter = filter_of(names);
    if (filter.size() < longest) passed["--filter"] = std::move(filter);
    // With --configuration default each variant has but that one, under a name of its own.
    if (passed.at("--configuration") != "default" && configurations.size() == 1) {
      passed["--configuration"] = *configurations.begin();
    }
    return passed;
  }

  // No name needs to be quoted in a regular expression, unless it is of a program to come.
  static std::string filter_of(const std::set<std::string>& names) {
    std::string alternatives;
    for (const std::string& name : names) {
      if (!alternatives.empty()) alternatives += '|';
      for (const char c : name) {
        if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) {
          alternatives += '\\';
        }
        alternatives += c;
      }
    }
    return "^(" + alternatives + ")$";
  }

  Builds rounds(const std::map<std::string, std::string>& passed) {
    planned_ += 2 * options_.replicas;
    Builds phase{Night(before_.program), Night(after_.program)};
    for (int round = 0; round < options_.replicas; ++round) {
      const bool old_first = random_() % 2 == 0;
      for (const bool is_old : {old_first, !old_first}) {
        one_process(is_old ? before_ : after_, is_old ? phase.before : phase.after, passed, round);
      }
    }
    return phase;
  }

  void one_process(Build& build, Night& night, const std::map<std::string, std::string>& passed,
                   int round) {
    const std::string file = folder_.file("run.csv");
    std::error_code ignored;
    fs::remove(file, ignored);  // a row of another process must never be taken for this one's
    std::vector<std::string> command = {
        build.program, "run", "--quiet", "--csv", file, "--seed", std::to_string(seed_)};
    for (const auto& [name, value] : passed) command.insert(command.end(), {name, value});
    if (options_.pin) command.emplace_back("--pin");
    const ProgramEnd end = run_program(command, interrupts_requested);
    if (end.exit_code != as_hoped && end.exit_code != negative_verdict) {
      throw Error("{} run ended with {}{}", build.program, end.how,
                  end.last_words.empty() ? "" : ": " + end.last_words);
    }
    std::vector<Record> records;
    try {
      records = read_records(file);
    } catch (const Error& error) {
      throw Error("{} run wrote no results that can be read: {}", build.program, error.what());
    }
    for (Record& record : records) {
      require_same_build(build, record);
      record.replica = build.processes;
      night.add(record);
      keep(build, record);
    }
    if (build.kept) build.kept->sync();
    ++build.processes;
    say("[round {} of {}] {}: {} records", round + 1, options_.replicas, build.name,
        records.size());
  }

  static void require_same_build(Build& build, const Record& record) {
    const std::string commit = revision(record.git_commit, record.dirty);
    if (!build.commit) build.commit = commit;
    if (*build.commit == commit) return;
    throw Error("{} was built anew meanwhile: its records were of commit '{}' and are of '{}'; run "
                "ab again, and build nothing the while",
                build.program, *build.commit, commit);
  }

  void keep(Build& build, const Record& record) const {
    if (options_.keep.empty()) return;
    if (!build.kept) build.kept.emplace(kept_file(options_, build.name), record_columns());
    build.kept->append(record_row(record));
  }

  const AbOptions& options_;
  std::uint64_t seed_;
  std::mt19937_64 random_;
  TemporaryFolder folder_;
  Build before_, after_;
  std::map<std::string, std::string> passed_;  // options of both
  std::size_t ran_again_ = 0;                  // series
  int planned_ = 0;                            // processes
};

// What is none of ours may run for ever on our arguments.
void require_fusebench(const std::string& path) {
  require_program(path);
  ProgramEnd end;
  try {
    end = run_program({path, "--version"}, interrupts_requested,
                      {.listen_to_output = true, .most_seconds = 30});
  } catch (const Error& error) {
    throw Error("{}; give the path of a fusebench", error.what());
  }
  if (end.exit_code == as_hoped && end.last_words.starts_with("fusebench ")) return;
  throw Error("{} is no fusebench: --version ended with {}{}", path, end.how,
              end.last_words.empty() ? "" : ": " + end.last_words);
}

// An earlier run's records may be all that is left of that night.
void require_nothing_kept(const AbOptions& options) {
  if (options.keep.empty()) return;
  if (const std::string parent = missing_parent(options.keep); !parent.empty()) {
    throw Error("--keep: there is no folder {}; make it first", parent);
  }
  std::error_code failed;
  fs::create_directory(options.keep, failed);
  if (failed) throw Error("--keep: cannot make {}: {}", options.keep, failed.message());
  for (const char* build : {"old", "new"}) {
    const std::string file = kept_file(options, build);
    if (fs::exists(file)) throw Error("--keep: {} is there already; name another folder", file);
  }
}

int ab(const AbOptions& options) {
  (void)interrupts_requested();
  require_nothing_kept(options);
  options.check_outputs({options.before, options.after}, {{"--keep", kept_file(options, "old")},
                                                          {"--keep", kept_file(options, "new")}});
  require_fusebench(options.before);
  require_fusebench(options.after);
  const std::uint64_t seed = options.seed.value_or(fresh_seed());
  if (!options.quiet) {
    fmt::print(stderr, "seed {}\n", seed);
    const auto needed = static_cast<int>(options.rules().min_replicas);
    if (options.replicas < needed) {
      fmt::print(stderr, "note: with fewer than {} replicas only wrong results can be found\n",
                 needed);
    }
  }
  Match match(options, seed);
  Comparison comparison;
  try {
    comparison = match.play();
  } catch (const std::exception& error) {
    throw Error("{}{}", error.what(), match.how_far());
  }
  const int code = report(comparison, {options.before, options.after, seed}, options);
  if (match.ran_again() > 0) {
    fmt::print("{} series ran again in {} fresh processes of each build, whose times count at the "
               "level of the first\n",
               match.ran_again(), options.replicas);
  }
  return code;
}

}  // namespace

Command add_ab_command(CLI::App& program) {
  auto options = std::make_shared<AbOptions>();
  CLI::App* app = program.add_subcommand(
      "ab", "Run two builds in turn, process by process, and say what changed");
  app->add_option("OLD_PROGRAM", options->before, "the path of a fusebench")->required();
  app->add_option("NEW_PROGRAM", options->after, "of the one to be judged")->required();
  app->add_option("--replicas", options->replicas,
                  "rounds, one process of each build in each; as many more to confirm; with fewer "
                  "than 8 only wrong results can be found")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  for (const auto& [name, help] : passed_on) {
    app->add_option_function<std::string>(
        name,
        [options, key = std::string(name)](const std::string& value) {
          options->passed[key] = value;
        },
        help);
  }
  app->add_flag("--pin", options->pin, "tie CPU threads to cores");
  app->add_option("--seed", options->seed, "of the inputs and of the order (default: a fresh one)")
      ->check(whole_64_bits());
  app->add_option("--keep", options->keep,
                  "write all records to old.csv and new.csv in this folder, which has none yet, or "
                  "is made; 'compare' takes them as they are, and may differ a little")
      ->type_name("DIR");
  app->add_flag("--quiet", options->quiet, "no progress");
  options->add_to(*app);
  app->footer("Exit codes: 0 nothing slower or newly wrong, 1 something is, 2 no verdict.\n"
              "Example: fusebench ab last_good/fusebench build/fusebench --device cuda");
  return {app, [options] { return ab(*options); }};
}

}  // namespace fusebench
