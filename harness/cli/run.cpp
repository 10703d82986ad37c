// fusebench run and fusebench verify: the main job, with and without the clock.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "harness/cli/commands.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/output_files.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/replicas.hpp"
#include "harness/cli/table.hpp"
#include "harness/compare/comparison.hpp"
#include "harness/compare/size.hpp"
#include "harness/core/error.hpp"
#include "harness/record/csv_reader.hpp"
#include "harness/record/csv_writer.hpp"
#include "harness/record/json_writer.hpp"

namespace fusebench {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// Refuses what could not be written, or would replace something else, before anything is opened.
void check_outputs(const RunOptions& options) {
  std::vector<OutputFile> outputs = results_files(options.csv);
  outputs.push_back({"--json", options.json});
  check_output_files(outputs, options.with);
}

// Writes every result down as it arrives, and tells the terminal.
class Recorder final : public SessionObserver {
 public:
  Recorder(const RunOptions& options, std::vector<DeviceTraits> devices)
      : json_path_(options.json), progress_(options.quiet) {
    if (!options.csv.empty()) csv_.emplace(options.csv);
    document_.command_line = command_line();
    document_.working_directory = std::filesystem::current_path().string();
    document_.host = host_name();
    document_.devices = std::move(devices);
    if (!json_path_.empty()) write_json(json_path_, document_);
  }

  void on_start(std::size_t index, std::size_t total, const Item& item) override {
    progress_.start(index, total, item);
  }
  void on_phase(const std::string& phase) override { progress_.phase(phase); }

  void on_result(const JobResult& result) override {
    progress_.result(result);
    document_.records.push_back(result.record);
    for (const std::string& note : result.notes) {
      document_.notes.push_back(result.record.variant + ": " + note);
    }
    if (csv_) csv_->append(result.record, result.samples);
    // The CSV is what survives a kill; the whole document again for each of thousands of
    // configurations would cost more than it tells.
    const auto now = std::chrono::steady_clock::now();
    if (!json_path_.empty() && now - last_json_ > std::chrono::seconds(1)) {
      write_json(json_path_, document_);
      last_json_ = now;
    }
  }

  void finish(bool complete, const std::vector<std::string>& notes) {
    document_.complete = complete;
    document_.notes.insert(document_.notes.end(), notes.begin(), notes.end());
    if (!json_path_.empty()) write_json(json_path_, document_);
  }

  [[nodiscard]] const std::vector<Record>& records() const { return document_.records; }

 private:
  std::string json_path_;
  Progress progress_;
  std::optional<ResultFiles> csv_;
  RunDocument document_;
  std::chrono::steady_clock::time_point last_json_;
};

int exit_code_of(const std::vector<Record>& records) {
  bool any_ran = false;
  for (const Record& record : records) {
    if (record.outcome == Outcome::unavailable) continue;
    any_ran = true;
    if (record.outcome != Outcome::passed) return negative_verdict;
  }
  return any_ran ? as_hoped : no_verdict;
}

// The rows of all --with files. A file with nothing for this run is a mistake better told now.
std::vector<Record> peers_of(const RunOptions& options, const std::vector<Item>& items) {
  std::vector<Record> peers;
  for (const std::string& path : options.with) {
    std::vector<Record> records = read_records(path);
    const auto belongs = [&](const Record& record) {
      return std::any_of(items.begin(), items.end(), [&](const Item& item) {
        return !item.job.control && item.job.operator_name == record.operator_name &&
               item.job.problem == record.problem && item.device == record.device;
      });
    };
    if (std::none_of(records.begin(), records.end(), belongs)) {
      throw Error(
          "--with {}: no row is of an operator, problem and device of this run, such as {}, "
          "{}, {}",
          path, items.back().job.operator_name, items.back().job.problem,
          to_string(items.back().device));
    }
    peers.insert(peers.end(), records.begin(), records.end());
  }
  return peers;
}

// Which configuration wisdom has chosen for each variant that runs and has a choice, and why.
void tell_wisdom(const std::vector<Item>& items, const std::string& folder) {
  std::size_t unknown = 0;
  for (const Item& item : items) {
    if (item.wisdom.empty() || !item.unavailable.empty() || item.job.replica > 0) continue;
    if (item.variant->info().parameters.parameters().empty()) continue;
    if (item.wisdom == "default: nothing is known") {
      ++unknown;
    } else {
      fmt::print(stderr, "wisdom in {}: {} {}: {}\n", folder, item.job.variant,
                 item.job.configuration, item.wisdom);
    }
  }
  if (unknown > 0) {
    fmt::print(stderr, "wisdom in {}: nothing is known of {}, which {} the default{}\n", folder,
               counted(unknown, "variant"), unknown == 1 ? "takes" : "take",
               unknown == 1 ? "" : "s");
  }
}

int run(const RunOptions& options, bool measures) {
  SessionOptions session = options.session();
  session.measure = measures;
  session.interrupted = interrupt_requested;
  const std::vector<Item> items = plan_session(options.selection(), session);
  check_outputs(options);
  const std::vector<Record> peers = peers_of(options, items);

  std::map<DeviceKind, DeviceTraits> devices;
  std::vector<std::string> baselines;
  for (const Item& item : items) {
    if (item.variant != nullptr && item.variant->info().baseline)
      baselines.push_back(item.job.variant);
    if (!item.unavailable.empty() || devices.contains(item.device)) continue;
    devices[item.device] = probe_device(item.device).traits.value_or(DeviceTraits{});
  }
  if (devices.empty()) {
    throw Error("nothing that was chosen can run here: {}", items.front().unavailable);
  }
  std::vector<DeviceTraits> traits;
  for (const auto& [kind, of_kind] : devices) traits.push_back(of_kind);

  Recorder recorder(options, std::move(traits));
  if (!options.quiet) {
    tell_wisdom(items, options.wisdom);
    fmt::print(stderr, "seed {}\n", options.seed());
  }
  const bool complete = run_session(items, session, recorder);
  const std::vector<std::string> drifts =
      drifts_of_controls(recorder.records(), CompareRules{}.floor);
  recorder.finish(complete, drifts);
  if (!options.quiet) {
    const std::vector<Record> shown = typical_replicas(recorder.records());
    fmt::print("{}", result_table(shown, {.baselines = baselines,
                                          .devices = devices,
                                          .peers = peers,
                                          .every = options.every}));
    if (options.replicas > 1) {
      fmt::print("each time is the median one of {} replicas\n", options.replicas);
    }
    for (const std::string& drift : drifts) fmt::print("{}\n", drift);
  }
  if (!complete) {
    const std::string kept = options.csv.empty() ? "" : "; the rows are in " + options.csv;
    throw Error("interrupted after {} of {}{}", recorder.records().size(), items.size(), kept);
  }
  for (const Record& record : recorder.records()) {
    if (!options.quiet || record.outcome == Outcome::passed) continue;
    if (record.outcome == Outcome::unavailable) continue;
    fmt::print(stderr, "fusebench: {} {}: {}\n", record.variant, to_string(record.outcome),
               record.reason);
  }
  return exit_code_of(recorder.records());
}

Command add_command(CLI::App& program, const char* name, const char* help, const char* example,
                    bool measures) {
  auto options = std::make_shared<RunOptions>();
  options->configuration = "wisdom";
  if (!measures) options->battery = "full";
  CLI::App* app = program.add_subcommand(name, help);
  options->add_to(*app, measures);
  std::string footer;
  for (const Operator* op : registry().operators()) {
    footer += fmt::format("Problems of {}: {}\n  quick is {}\n  official is {}\n\n", op->name(),
                          op->problem_help(), op->parse_problem("quick").to_string(),
                          op->parse_problem("official").to_string());
  }
  app->footer(footer + example);
  return {app, [options, measures] { return run(*options, measures); }};
}

}  // namespace

Command add_run_command(CLI::App& program) {
  return add_command(program, "run", "Verify, then time, and tabulate",
                     "Example: fusebench run --filter 'cpu_(threads|simd)' --csv run.csv", true);
}

Command add_verify_command(CLI::App& program) {
  return add_command(program, "verify", "Verify without timing",
                     "Example: fusebench verify --problem 2,3,5,7,9 --seed 42", false);
}

}  // namespace fusebench
