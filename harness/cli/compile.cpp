// fusebench compile: every kernel and configuration to machine code, without a device.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "harness/cli/commands.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/table.hpp"
#include "harness/core/error.hpp"
#include "harness/device/cuda/compiler.hpp"
#include "harness/device/cuda/device_kernels.hpp"
#include "harness/session/foundry.hpp"
#include "harness/verify/control_operator.hpp"
#include "harness/verify/device_tally.hpp"

namespace fusebench {
namespace {

// Of a job that has been planned, and so parses.
Foundry::Wanted wanted_of(const Item& item) {
  return wanted_of(item, item.variant->info().parameters.parse(item.job.configuration));
}

// Why its kernels are none that can be compiled; nullopt when they can.
std::optional<std::string> unsupported(const Foundry::Wanted& wanted, const Architecture& target) {
  if (auto reason = wanted.variant->unsupported(target)) return reason;
  return wanted.variant->refuses(wanted.problem);
}

struct CompileOptions : SelectionOptions {
  std::vector<std::string> architectures;
  bool json = false;
};

struct Tally {
  int compiled = 0;
  int failed = 0;
  int unsupported = 0;
};

using Rows = std::vector<std::vector<std::string>>;

// Where a kernel belongs, as the first columns of its row.
struct Origin {
  std::string arch;
  std::string operator_name;
  std::string variant;
  std::string configuration;
};

void compile_spec(const KernelSpec& spec, const Architecture& target, const std::string& folder,
                  const Origin& origin, Rows& rows, Tally& tally) {
  const auto row = [&](const KernelResources& r, const std::string& result) {
    rows.push_back({origin.arch, origin.operator_name, origin.variant, origin.configuration,
                    r.entry, std::to_string(r.registers), std::to_string(r.shared_bytes),
                    std::to_string(r.spill_store_bytes + r.spill_load_bytes), result});
  };
  try {
    for (const KernelResources& r : compile_kernel(spec, target, folder).resources) {
      row(r, "compiled");
    }
    ++tally.compiled;
  } catch (const Unavailable&) {
    throw;  // no compiler at all: no verdict
  } catch (const Error& error) {
    ++tally.failed;
    row({.entry = spec.source}, std::string("failed: ") + error.what());
  }
}

// Into the cache, on all processors; the table is then read from there. Without a cache nothing is gained.
void compile_ahead(const std::vector<Item>& items, const Architecture& target,
                   const std::string& folder, bool terminal) {
  if (kernel_cache_folder().empty()) return;
  std::vector<Foundry::Wanted> wanted;
  for (const Item& item : items) {
    Foundry::Wanted one = wanted_of(item);
    if (!unsupported(one, target)) wanted.push_back(std::move(one));
  }
  constexpr std::chrono::duration<double> limit = std::chrono::minutes(10);
  Foundry foundry(target, {.kernel_folder = folder}, Foundry::all_processors() + 1, /*niceness=*/0,
                  limit, interrupt_requested);
  foundry.order(wanted);
  using Clock = std::chrono::steady_clock;
  auto told = Clock::now();
  foundry.drain([&](std::size_t left) {
    if (terminal) {
      fmt::print(stderr, "\r\033[K{} kernels left to compile ...", left);
    } else if (Clock::now() - told > std::chrono::seconds(10)) {
      fmt::print(stderr, "{} kernels left to compile\n", left);
      told = Clock::now();
    }
    return !interrupt_requested();
  });
}

int compile(CompileOptions options) {
  options.device = "cuda";
  SessionOptions session;
  session.measure = false;
  const std::vector<Item> items = plan_session(options.selection(), session);
  Rows rows = {{"arch", "operator", "variant", "configuration", "kernel", "registers",
                "static shared bytes", "spill bytes", "result"}};
  Tally tally;
  (void)compiler_version();  // where there is none, no process need be asked
  const bool terminal = isatty(STDERR_FILENO) != 0;
  for (const std::string& name : options.architectures) {
    const Architecture target = parse_architecture(name);
    compile_ahead(items, target, options.kernel_folder, terminal);
    std::set<std::string> seen;
    for (const Item& item : items) {
      if (interrupt_requested()) {
        throw Error("interrupted; what is compiled is in the cache, and the same command goes on");
      }
      if (terminal) {
        fmt::print(stderr, "\r\033[K[{}/{}] {} {} ...", &item - items.data() + 1, items.size(),
                   name, item.job.variant);
      }
      // Parameters that are none of the kernels' make no kernel of their own, and a reason is told once.
      const Foundry::Wanted wanted = wanted_of(item);
      const auto reason = unsupported(wanted, target);
      const std::string key = reason ? "unsupported: " + *reason : kernels_key(wanted);
      if (!seen.insert(item.job.variant + ' ' + key).second) continue;
      const Origin origin = {target.to_string(), item.job.operator_name, item.job.variant,
                             item.job.configuration};
      if (reason) {
        ++tally.unsupported;
        rows.push_back({origin.arch, origin.operator_name, origin.variant, origin.configuration,
                        "-", "-", "-", "-", key});
        continue;
      }
      for (const KernelSpec& spec : wanted.kernels()) {
        compile_spec(spec, target, options.kernel_folder, origin, rows, tally);
      }
    }
    if (!options.filter.empty()) continue;
    std::vector<KernelSpec> own = device_kernels();
    own.push_back(tally_kernel(control_as_operator(2).device_oracle()));
    for (const Operator* op : registry().operators()) {
      if (!op->device_oracle().empty()) own.push_back(tally_kernel(op->device_oracle()));
    }
    for (const KernelSpec& spec : own) {
      compile_spec(spec, target, options.kernel_folder,
                   {target.to_string(), "harness", "-", "default"}, rows, tally);
    }
  }
  if (terminal) fmt::print(stderr, "\r\033[K");
  if (options.json) {
    nlohmann::json document = nlohmann::json::array();
    for (std::size_t i = 1; i < rows.size(); ++i) {
      nlohmann::json row;
      for (std::size_t k = 0; k < rows[0].size(); ++k) row[rows[0][k]] = rows[i][k];
      document.push_back(std::move(row));
    }
    fmt::print("{}\n", document.dump(2));
  } else {
    constexpr std::array<std::size_t, 6> left = {0, 1, 2, 3, 4, 8};
    fmt::print("{}{}: {} compiled, {} failed, {} unsupported\n", align(rows, left),
               compiler_version(), tally.compiled, tally.failed, tally.unsupported);
  }
  if (tally.failed > 0) return negative_verdict;
  return tally.compiled > 0 ? as_hoped : no_verdict;
}

}  // namespace

Command add_compile_command(CLI::App& program) {
  auto options = std::make_shared<CompileOptions>();
  options->configuration = "all";
  CLI::App* app = program.add_subcommand(
      "compile", "Compile every CUDA kernel and configuration; needs NVRTC but no GPU");
  app->add_option("--operator", options->operator_name, "only this operator (default: all)");
  app->add_option("--filter", options->filter, "only what matches REGEX in 'operator variant'")
      ->type_name("REGEX");
  app->add_option("--configuration", options->configuration, "default, all, or key=value,...")
      ->capture_default_str();
  app->add_option(
         "--problem", options->problem,
         "the sizes that kernels are compiled for; of one operator, so with --operator or --filter "
         "(default: official)")
      ->type_name("SIZES");
  app->add_option("--kernels", options->kernel_folder,
                  "read kernel sources from this checkout instead of those built in")
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  app->add_option("--arch", options->architectures, "sm_80, sm_90a, sm_100a, ...; may be repeated")
      ->required()
      ->delimiter(',');
  app->add_flag("--json", options->json, "print JSON");
  app->footer(
      "Example: fusebench compile --arch sm_90a --filter bulk_copy --configuration default");
  return {app, [options] { return compile(*options); }};
}

}  // namespace fusebench
