// fusebench profile: a few calls of each variant for a profiler, or for a timeline of our own.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "harness/cli/commands.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/output_files.hpp"
#include "harness/cli/table.hpp"
#include "harness/core/error.hpp"
#include "harness/record/csv_writer.hpp"
#include "harness/record/whole_file.hpp"
#include "harness/session/profiler.hpp"
#include "harness/trace/call_sums.hpp"
#include "harness/trace/chrome_trace.hpp"

namespace fusebench {
namespace {

struct Options : RunOptions {
  int iterations = 5;
  bool flush = false;
  bool even_wrong = false;
  std::string trace;
  std::string trace_csv;
};

using Row = std::vector<std::string>;

// What the device's own record says of a call.
Row work_of(const VariantSums* sums, double events_take) {
  if (sums == nullptr || !sums->work) return {"-", "-", "-"};
  const auto calls = static_cast<double>(sums->iterations);
  const auto mean = [&](std::uint64_t ns) { return format_time(static_cast<double>(ns) / calls); };
  const auto difference = disagreement_ns(*sums, events_take);
  return {mean(sums->work->kernel_ns), mean(sums->work->gap_ns),
          difference ? "differs by " + format_time(*difference) : "agrees"};
}

class Report {
 public:
  Report(const std::vector<Item>& items, const Profile& profile)
      : items_(&items),
        profile_(&profile),
        sums_(sum_calls(profile.timeline)),
        events_take_ns_(events_take_ns(profile.timeline)) {
    has_work_ = std::any_of(sums_.begin(), sums_.end(),
                            [](const VariantSums& sums) { return sums.work.has_value(); });
  }

  // A table for each operator, problem and device, then what went wrong or is not to be had here.
  void print() const {
    for (std::size_t i = 0; i < items_->size();) i = print_group(i);
    for (std::size_t i = 0; i < items_->size(); ++i) {
      const ProfiledVariant& variant = profile_->variants[i];
      if (variant.reason.empty()) continue;
      const Job& job = (*items_)[i].job;
      fmt::print("{} {} {}: {}\n", job.operator_name, job.variant, to_string(variant.outcome),
                 variant.reason);
    }
    const auto disagrees = [&](const VariantSums& sums) {
      return disagreement_ns(sums, events_take_ns_).has_value();
    };
    if (has_work_ && std::any_of(sums_.begin(), sums_.end(), disagrees)) {
      fmt::print(
          "differs: the time from a call's first work on the device to the end of its last is not "
          "the time between the\nevents around it, less the {} that events take, by more than 2% "
          "and 1 us; see docs/profiling.md\n",
          format_time(events_take_ns_));
    }
  }

 private:
  [[nodiscard]] std::size_t print_group(std::size_t first) const {
    const auto same = [&](const Item& item) {
      const Item& head = (*items_)[first];
      return item.job.operator_name == head.job.operator_name &&
             item.job.problem == head.job.problem && item.device == head.device;
    };
    std::vector<Row> rows;
    std::size_t i = first;
    for (; i < items_->size() && same((*items_)[i]); ++i) {
      if (profile_->variants[i].outcome != Outcome::unavailable) rows.push_back(row(i));
    }
    if (rows.empty()) return i;
    Row header = {"variant", "outcome", "calls", "launches", "mean call"};
    if (has_work_) header.insert(header.end(), {"kernels", "gaps", "event time"});
    rows.insert(rows.begin(), header);
    const Item& head = (*items_)[first];
    constexpr std::array<std::size_t, 3> left = {0, 1, 7};
    fmt::print("{}, {}, {}\n{}\n", head.job.operator_name, head.job.problem, to_string(head.device),
               align(rows, left));
    return i;
  }

  [[nodiscard]] Row row(std::size_t i) const {
    const Item& item = (*items_)[i];
    const ProfiledVariant& variant = profile_->variants[i];
    const std::string configuration = item.show_configuration && item.job.configuration != "default"
                                          ? " " + item.job.configuration
                                          : "";
    const std::int64_t calls = std::max<std::int64_t>(1, variant.iterations);
    const std::string launches =
        item.device == DeviceKind::cpu
            ? "-"
            : fmt::format("{}", static_cast<double>(variant.launches) / static_cast<double>(calls));
    Row row = {item.job.variant + configuration, std::string(to_string(variant.outcome)),
               std::to_string(variant.iterations), launches,
               variant.mean_ns ? format_time(*variant.mean_ns) : "-"};
    if (!has_work_) return row;
    const auto found = std::find_if(sums_.begin(), sums_.end(),
                                    [&](const VariantSums& sums) { return sums.variant == i; });
    const Row work = work_of(found == sums_.end() ? nullptr : &*found, events_take_ns_);
    row.insert(row.end(), work.begin(), work.end());
    return row;
  }

  const std::vector<Item>* items_;
  const Profile* profile_;
  std::vector<VariantSums> sums_;
  double events_take_ns_ = 0.0;
  bool has_work_ = false;
};

std::string sums_as_csv(const Timeline& timeline) {
  std::string text = csv_line(sums_columns());
  for (const VariantSums& sums : sum_calls(timeline)) {
    text += csv_line(sums_row(timeline.variants[sums.variant], sums));
  }
  return text;
}

int exit_code_of(const Profile& profile) {
  bool any_ran = false;
  for (const ProfiledVariant& variant : profile.variants) {
    if (variant.outcome == Outcome::unavailable) continue;
    if (variant.outcome != Outcome::passed) return negative_verdict;
    any_ran = true;
  }
  return any_ran ? as_hoped : no_verdict;
}

void tell_losses(const Options& options, const Profile& profile) {
  const bool wants_trace = !options.trace.empty() || !options.trace_csv.empty();
  if (wants_trace && !profile.without_device.empty()) {
    fmt::print(stderr, "the trace {}: {}\n",
               profile.timeline.work.empty() ? "has the host's side only"
                                             : "lacks a part of the GPU's side",
               profile.without_device);
  }
  const Timeline& timeline = profile.timeline;
  if (timeline.dropped > 0) {
    fmt::print(stderr, "CUPTI had no room for {} records: the trace lacks them\n",
               timeline.dropped);
  }
  if (timeline.timeless > 0) {
    fmt::print(stderr, "CUPTI had no time for {} records: the trace lacks them\n",
               timeline.timeless);
  }
}

int run(const Options& options) {
  const std::array<OutputFile, 2> outputs = {
      {{"--trace", options.trace}, {"--trace-csv", options.trace_csv}}};
  SessionOptions session;
  session.measure = false;
  session.seed = options.seed();
  session.device.kernel_folder = options.kernel_folder;
  const std::vector<Item> items = plan_session(options.selection(), session);
  check_output_files(outputs, {});
  if (options.trace.ends_with(".gz")) {
    throw Error("--trace writes JSON as it is, not {}; leave .gz off and gzip it then, which "
                "viewers take too",
                options.trace);
  }
  for (const OutputFile& output : outputs) {
    if (!output.path.empty()) require_writable(output.path);
  }

  ProfileOptions how;
  how.seed = session.seed;
  how.iterations = options.iterations;
  how.flush = options.flush;
  how.even_wrong = options.even_wrong;
  how.record = !options.trace.empty() || !options.trace_csv.empty();
  how.device = {.pin_threads = options.pin, .kernel_folder = options.kernel_folder};
  how.interrupted = interrupt_requested;
  if (!options.quiet) {
    fmt::print(stderr, "seed {}\n", how.seed);
    how.on_phase = [](const Item& item, Phase phase) {
      if (phase != Phase::verify && phase != Phase::warmup) return;
      fmt::print(stderr, "{} {}: {}\n", item.job.operator_name, item.job.variant,
                 phase == Phase::verify ? "verify" : "call");
    };
  }
  const Profile result = profile(items, how);
  if (!result.complete) throw Error("interrupted; no trace was written");
  if (!options.trace.empty()) write_whole_file(options.trace, chrome_trace(result.timeline));
  if (!options.trace_csv.empty()) {
    write_whole_file(options.trace_csv, sums_as_csv(result.timeline));
  }
  tell_losses(options, result);
  if (!options.quiet) Report(items, result).print();
  return exit_code_of(result);
}

}  // namespace

Command add_profile_command(CLI::App& program) {
  auto options = std::make_shared<Options>();
  options->configuration = "wisdom";
  CLI::App* app = program.add_subcommand(
      "profile", "Call each variant a few times, under a profiler or for a timeline");
  options->SelectionOptions::add_to(*app);
  app->add_option("--problem", options->problem, "as for run")->type_name("SIZES");
  app->add_option("--configuration", options->configuration, "as for run")->capture_default_str();
  app->add_option("--wisdom", options->wisdom, "the folder of --configuration wisdom")
      ->capture_default_str()
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  app->add_option("--iterations", options->iterations, "calls of each variant after its warm-up")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app->add_flag("--flush", options->flush, "write over the caches before each call, as run does");
  app->add_flag("--even-wrong", options->even_wrong, "call variants that were found wrong too");
  app->add_option("--trace", options->trace,
                  "write a timeline for ui.perfetto.dev or chrome://tracing")
      ->type_name("FILE.json");
  app->add_option("--trace-csv", options->trace_csv,
                  "write what each variant's calls add up to: kernels, gaps, API calls")
      ->type_name("FILE.csv");
  app->add_option("--seed", options->given_seed, "of the inputs (default: a fresh one, printed)")
      ->check(whole_64_bits());
  app->add_flag("--pin", options->pin, "tie CPU threads to cores");
  app->add_flag("--quiet", options->quiet, "print nothing but errors");
  app->footer("Each variant is verified by one call. Then, between one cuProfilerStart and one\n"
              "cuProfilerStop, each is called once to warm up and --iterations times. This is one "
              "process:\n"
              "a variant that crashes or hangs ends it all. Caches are warm and nothing holds the "
              "GPU back,\n"
              "so these times are no results; 'run' has those.\n\n"
              "Example: fusebench profile --device cpu --trace timeline.json");
  return {app, [options] { return run(*options); }};
}

}  // namespace fusebench
