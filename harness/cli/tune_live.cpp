#include "harness/cli/tune_live.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "harness/cli/commands.hpp"
#include "harness/cli/output_files.hpp"
#include "harness/cli/table.hpp"
#include "harness/cli/tuner.hpp"
#include "harness/core/error.hpp"
#include "harness/device/cuda/compiler.hpp"
#include "harness/session/variant_sources.hpp"
#include "harness/tune/text_file.hpp"
#include "harness/tune/variant_space.hpp"
#include "harness/tune/wisdom.hpp"
#include "harness/verify/workbench.hpp"

namespace fusebench {
namespace {

constexpr std::size_t least_budget = 32;  // a tenth of a small space would be no search

std::size_t budget_of(const std::string& text, std::size_t size) {
  if (!text.empty()) return parse_budget(text).most(size);
  return std::min(size, std::max(least_budget, parse_budget("10%").most(size)));
}

TuningBasis basis_of(const Item& item, const LiveOptions& options, const DeviceTraits& traits) {
  TuningBasis basis{.source = source_hash(*item.variant, options.run.kernel_folder),
                    .options = current_provenance(options.run.kernel_folder).build_flags,
                    .toolkit = toolkit_of(*item.variant, traits),
                    .driver = traits.driver,
                    .battery = options.run.battery};
  if (traits.architecture) {
    const auto kernels =
        wanted_of(item, item.variant->info().parameters.default_configuration()).kernels();
    basis.options = kernels.empty() ? traits.architecture->to_string()
                                    : compiler_options(kernels.front(), *traits.architecture);
  }
  return basis;
}

struct LeftOut {
  std::string variant, reason;
};

// "a, b: why; c: another why"
std::string by_reason(const std::vector<LeftOut>& left_out) {
  std::map<std::string, std::set<std::string>> variants;
  for (const LeftOut& one : left_out) variants[one.reason].insert(one.variant);
  std::string text;
  for (const auto& [reason, names] : variants) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", fmt::join(names, ", "), reason);
  }
  return text;
}

struct Chosen {
  std::vector<Item> controls;
  std::vector<Item> variants;
  std::vector<LeftOut> left_out;
  std::string too_large;  // the last of these whose problem no memory holds
};

// Nothing of a problem that is too large can be measured, which need not be tried of each configuration.
std::string too_large(const Item& item, const DeviceTraits& device) {
  std::int64_t bytes = 0;
  for (const TensorSpec& spec : item.op->tensors(item.op->parse_problem(item.job.problem))) {
    bytes += element_count(spec.shape) * static_cast<std::int64_t>(sizeof(float));
  }
  try {
    const std::string what = "problem " + item.job.problem;
    require_memory(what, bytes, device);
    require_memory(what, bytes, probe_device(DeviceKind::cpu).traits.value_or(DeviceTraits{}));
  } catch (const Unavailable& reason) {
    return reason.what();
  }
  return "";
}

// What can be searched. Throws Error when nothing can, with a reason.
Chosen plan_of(const LiveOptions& options, const SessionOptions& session, Tuner::Devices& devices) {
  Chosen plan;
  for (Item& item : plan_session(options.run.selection(), session)) {
    if (item.unavailable.empty() && !devices.contains(item.device)) {
      devices[item.device] = probe_device(item.device).traits.value_or(DeviceTraits{});
    }
    if (item.job.control) {
      plan.controls.push_back(std::move(item));
    } else if (!item.unavailable.empty()) {
      plan.left_out.push_back({item.job.variant, item.unavailable});
    } else if (item.variant->info().parameters.parameters().empty()) {
      plan.left_out.push_back({item.job.variant, "it has no parameters"});
    } else if (std::string why = too_large(item, devices[item.device]); !why.empty()) {
      plan.too_large = item.job.variant + ": " + why;
      plan.left_out.push_back({item.job.variant, why});
    } else {
      plan.variants.push_back(std::move(item));
    }
  }
  if (plan.variants.empty()) {
    throw Error("nothing that was chosen can be tuned here: {}",
                plan.too_large.empty() ? by_reason(plan.left_out) : plan.too_large);
  }
  const Item& first = plan.variants.front();
  const auto is_other = [&](const Item& item) {
    return item.job.operator_name != first.job.operator_name || item.device != first.device;
  };
  if (!options.log.empty() && std::any_of(plan.variants.begin(), plan.variants.end(), is_other)) {
    throw Error("--log keeps one operator on one device; choose them with --operator and --device");
  }
  return plan;
}

// Before anything is opened: a log holds hours of work.
void check_outputs(const LiveOptions& options) {
  std::vector<OutputFile> outputs = results_files(options.run.csv);
  outputs.push_back({"--log", options.log});
  check_output_files(outputs, {});
  if (options.log.ends_with(".gz")) {
    throw Error("--log {}: a log is appended to, so it is plain; name it without .gz, and if it is "
                "there gunzip it first",
                options.log);
  }
}

// A search may take hours, and is not to find out at its end that what it found cannot be kept.
void prepare_wisdom(const LiveOptions& options) {
  namespace fs = std::filesystem;
  const std::string& folder = options.wisdom;
  if (folder.empty()) return;
  const std::string parent = missing_parent(folder);
  if (options.chose_wisdom && !parent.empty()) {
    throw Error("cannot keep wisdom in {}: there is no folder {}; make it first, or choose another "
                "with --wisdom, or --no-wisdom",
                folder, parent);
  }
  std::error_code failed;
  fs::create_directories(folder, failed);
  const std::string reason = failed                                     ? failed.message()
                             : access(folder.c_str(), W_OK | X_OK) != 0 ? std::strerror(errno)
                                                                        : "";
  if (reason.empty()) return;
  throw Error("cannot keep wisdom in {}: {}; choose another folder with --wisdom, or --no-wisdom",
              folder, reason);
}

// What this search would replace must be wisdom. Throws Error where it is something else.
void require_readable_wisdom(const std::string& folder, const Item& item,
                             const DeviceTraits& traits) {
  if (folder.empty()) return;
  const std::string path =
      (std::filesystem::path(folder) / wisdom_file_name({.operator_name = item.job.operator_name,
                                                         .variant = item.job.variant,
                                                         .device_name = traits.name,
                                                         .problem = item.job.problem}))
          .string();
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) (void)parse_wisdom(path, read_text_file(path));
}

// Whether anything is known of a search's configurations but that they cannot run here.
bool has_verdict(const VariantSearch& search) {
  const auto unavailable = search.failures().find(std::string(to_string(Outcome::unavailable)));
  return search.done() > (unavailable == search.failures().end() ? 0 : unavailable->second);
}

std::string best_of(const VariantSearch& search, const Champion& best) {
  if (!best.configuration.empty()) return best.configuration;
  if (has_verdict(search)) return "none passed";
  return search.done() == 0 ? "not measured" : "none can run here";
}

std::string failures_of(const VariantSearch& search) {
  std::string text;
  for (const auto& [outcome, count] : search.failures()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, outcome);
  }
  return text.empty() ? "-" : text;
}

void print_best(const Tuner::Searches& searches) {
  std::vector<std::vector<std::string>> rows = {{"variant", "best configuration", "median",
                                                 "over default", "98%", "ties", "measured", "of",
                                                 "failures"}};
  for (const auto& search : searches) {
    const Champion best = search->champion();
    const bool any = !best.configuration.empty();
    rows.push_back({search->item().job.variant, best_of(*search, best),
                    any ? format_time(best.median_ns) : "-",
                    best.default_ratio > 0.0 ? fmt::format("{:.3f}x", best.default_ratio) : "-",
                    best.of_ratio
                        ? fmt::format("{:.3f}-{:.3f}", best.of_ratio->low, best.of_ratio->high)
                        : "-",
                    best.of_ratio || best.kept_default ? std::to_string(best.ties.size()) : "-",
                    std::to_string(search->done()), std::to_string(search->space().size()),
                    failures_of(*search)});
  }
  constexpr std::array<std::size_t, 3> left = {0, 1, 8};
  fmt::print("{}", align(rows, left));
}

// One variant of which nothing passed is a negative verdict, however well the others do.
int exit_code_of(const Tuner& tuner) {
  bool any = false;
  for (const auto& search : tuner.searches()) {
    if (!has_verdict(*search)) continue;
    if (!search->best_ns()) return negative_verdict;
    any = true;
  }
  return any && tuner.has_kept_wisdom() ? as_hoped : no_verdict;
}

}  // namespace

int tune_variants(const LiveOptions& options) {
  check_outputs(options);
  SessionOptions session = options.run.session();
  session.interrupted = interrupt_requested;
  Tuner::Devices devices;
  Chosen plan = plan_of(options, session, devices);
  const WisdomFolder wisdom = options.wisdom.empty() ? WisdomFolder() : read_wisdom(options.wisdom);
  Tuner::Searches searches;
  for (Item& item : plan.variants) {
    const ParameterSpace& parameters = item.variant->info().parameters;
    const DeviceTraits& traits = devices[item.device];
    SearchSpace space = variant_space(parameters, item.properties);
    const std::size_t budget = budget_of(options.budget, space.size());
    TuningBasis basis = basis_of(item, options, traits);
    const WisdomMatch match = match_wisdom(wisdom.known, item.variant->info(), item.job.problem,
                                           traits, item.properties, basis.source);
    require_readable_wisdom(options.wisdom, item, traits);
    searches.push_back(std::make_unique<VariantSearch>(std::move(item), std::move(space), budget,
                                                       std::move(basis)));
    searches.back()->begin(options.strategy, options.run.seed(), {match.configuration});
  }
  prepare_wisdom(options);
  std::optional<Foundry> foundry;
  const auto gpu = devices.find(DeviceKind::cuda);
  if (gpu != devices.end() && gpu->second.architecture && !kernel_cache_folder().empty()) {
    foundry.emplace(*gpu->second.architecture, session.device,
                    options.compilers > 0 ? options.compilers : Foundry::all_processors(),
                    /*niceness=*/10, std::chrono::duration<double>(session.timeout_seconds),
                    session.interrupted);
  }
  Tuner tuner(options, std::move(plan.controls), std::move(searches), devices,
              foundry ? &*foundry : nullptr);
  if (!options.run.quiet) {
    fmt::print(stderr, "seed {}\n", options.run.seed());
    for (const auto& [variant, reason] : plan.left_out) {
      fmt::print(stderr, "not tuned: {}: {}\n", variant, reason);
    }
  }
  for (const std::string& line : wisdom.unreadable) {
    fmt::print(stderr, "fusebench: wisdom left out: {}\n", line);
  }
  const bool complete = run_session([&] { return tuner.next(); }, tuner.expected(), session, tuner);
  print_best(tuner.searches());
  if (!complete) {
    throw Error("interrupted{}",
                options.log.empty() ? "" : "; the same command goes on from " + options.log);
  }
  return exit_code_of(tuner);
}

}  // namespace fusebench
