// fusebench gbench: every available variant through Google Benchmark, timed by our stopwatch.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "harness/cli/commands.hpp"
#include "harness/cli/options.hpp"
#include "harness/core/error.hpp"

#if FUSEBENCH_HAVE_GOOGLE_BENCHMARK
#include <benchmark/benchmark.h>

#include "harness/verify/examiner.hpp"
#endif

namespace fusebench {
namespace {

#if FUSEBENCH_HAVE_GOOGLE_BENCHMARK

// One device of each kind, opened when its first benchmark starts. Unlike `run`, this is one process:
// Google Benchmark owns the loop, so a crash ends it.
struct Benches {
  DeviceOptions options;
  std::map<DeviceKind, std::unique_ptr<Device>> devices;
  std::map<DeviceKind, std::unique_ptr<LocalCandidate>> candidates;
  bool any_negative = false;  ///< a wrong or failed variant

  Device& device(DeviceKind kind) {
    auto& device = devices[kind];
    if (!device) device = open_device(kind, options);
    return *device;
  }
  LocalCandidate& candidate(DeviceKind kind) {
    auto& candidate = candidates[kind];
    if (!candidate) candidate = std::make_unique<LocalCandidate>(device(kind));
    return *candidate;
  }
};

void run_benchmark(benchmark::State& state, const Item& item, Benches& benches) {
  try {
    Device& device = benches.device(item.device);
    const VariantInfo& info = item.variant->info();
    const Problem problem = item.op->parse_problem(item.job.problem);
    const Configuration configuration = info.parameters.parse(item.job.configuration);
    const AcceptanceRule rule = rule_of(*item.op, info.precision);
    Workbench bench(*item.op, problem, official_inputs(*item.op, problem),
                    placements(info.in_place).front(), item.job.seed, device);
    LocalCandidate& candidate = benches.candidate(item.device);
    candidate.adopt(item.variant->prepare(problem, configuration, device), bench.views());
    const Verdict verdict = verify_once(candidate, bench, device, rule);
    if (!verdict.right) {
      benches.any_negative = true;
      state.SkipWithError(("wrong: " + verdict.reason).c_str());
      return;
    }
    bench.prepare();
    for ([[maybe_unused]] auto _ : state) {  // NOLINT(clang-analyzer-deadcode.DeadStores)
      // The call before has overwritten its input; restoring that is not in the time that is set.
      if (bench.in_place()) bench.prepare();
      state.SetIterationTime(candidate.sample({}).ns * 1e-9);
    }
    if (const Verdict after = judge_output(bench, rule); !after.right) {
      benches.any_negative = true;
      state.SkipWithError(("right before timing, wrong after: " + after.reason).c_str());
      return;
    }
    state.SetBytesProcessed(state.iterations() * item.op->useful_bytes(problem));
    state.SetLabel(std::string(to_string(info.precision)));
  } catch (const Unavailable& reason) {
    state.SkipWithError(reason.what());
  } catch (const std::exception& error) {
    benches.any_negative = true;
    state.SkipWithError(error.what());
  }
}

int run_gbench(const RunOptions& options, std::vector<std::string> rest) {
  SessionOptions session = options.session();
  session.measure = false;
  const std::vector<Item> items = plan_session(options.selection(), session);
  const auto can_run = [](const Item& item) { return item.unavailable.empty(); };
  if (std::none_of(items.begin(), items.end(), can_run)) {
    throw Error("nothing that was chosen can run here: {}", items.front().unavailable);
  }
  Benches benches;
  benches.options = session.device;

  rest.insert(rest.begin(), "fusebench gbench");
  std::vector<char*> argv;
  for (std::string& argument : rest) argv.push_back(argument.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  benchmark::Initialize(&argc, argv.data());
  benchmark::AddCustomContext("seed", std::to_string(options.seed()));
  if (argc > 1)
    throw Error("gbench: unknown argument '{}'; see 'fusebench gbench --help'", argv[1]);

  for (const Item& item : items) {
    if (!can_run(item)) continue;
    std::string name = item.job.operator_name + "/" + item.job.variant + "/" + item.job.problem;
    if (item.show_configuration) name += "/" + item.job.configuration;
    benchmark::RegisterBenchmark(
        name.c_str(),
        [&item, &benches](benchmark::State& state) { run_benchmark(state, item, benches); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  const std::size_t ran = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (ran == 0) return no_verdict;
  return benches.any_negative ? negative_verdict : as_hoped;
}

#else

int run_gbench(const RunOptions&, const std::vector<std::string>&) {
  throw Error("this build has no Google Benchmark: install libbenchmark-dev and build again");
}

#endif

}  // namespace

Command add_gbench_command(CLI::App& program) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* app = program.add_subcommand(
      "gbench", "Run through Google Benchmark; its --benchmark_... options are passed on");
  options->SelectionOptions::add_to(*app);
  app->add_option("--problem", options->problem, "as for run")->type_name("SIZES");
  app->add_option("--configuration", options->configuration, "default, all, or key=value,...")
      ->capture_default_str();
  app->add_option("--seed", options->given_seed, "of the inputs (default: a fresh one)")
      ->check(whole_64_bits());
  app->add_flag("--pin", options->pin, "tie CPU threads to cores");
  app->allow_extras();
  app->footer(
      "Time counts the calls alone, not the clearing of caches between them:\n"
      "give a small problem a small --benchmark_min_time.\n\n"
      "Example: fusebench gbench --device cpu --benchmark_filter=threads --benchmark_out=out.json");
  return {app, [options, app] { return run_gbench(*options, app->remaining()); }};
}

}  // namespace fusebench
