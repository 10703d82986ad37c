#include "harness/cli/options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <system_error>

#include "harness/core/error.hpp"
#include "harness/session/provenance.hpp"

namespace fusebench {

CLI::Validator more_than_zero() {
  return {[](std::string& text) {
            double value = 0;
            const bool good = CLI::detail::lexical_cast(text, value) && value > 0;
            return good ? std::string() : "'" + text + "' must be a number above 0";
          },
          ""};
}

CLI::Validator whole_64_bits() {
  return {[](std::string& text) {
            std::uint64_t value = 0;
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            const bool good = error == std::errc() && stop == end;
            return good ? std::string() : "'" + text + "' is no whole number from 0 to 2^64 - 1";
          },
          ""};
}

std::vector<Wisdom> known_wisdom(const std::string& folder) {
  WisdomFolder found = read_wisdom(folder);
  for (const std::string& line : found.unreadable) {
    fmt::print(stderr, "fusebench: wisdom left out: {}\n", line);
  }
  return std::move(found.known);
}

void SelectionOptions::add_to(CLI::App& app) {
  app.add_option("--operator", operator_name, "only this operator (default: all)");
  app.add_option("--filter", filter, "only what matches REGEX in 'operator variant'")
      ->type_name("REGEX");
  app.add_option("--device", device, "cpu, cuda or all")
      ->check(CLI::IsMember({"cpu", "cuda", "all"}))
      ->capture_default_str();
  app.add_option("--kernels", kernel_folder,
                 "read kernel sources from this checkout instead of those built in")
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
}

Selection SelectionOptions::selection() const {
  Selection selection{.operator_name = operator_name,
                      .filter = filter,
                      .problem = problem,
                      .configuration = configuration};
  if (configuration == "wisdom") selection.wisdom = known_wisdom(wisdom);
  if (device != "all") selection.devices = {parse_device_kind(device)};
  return selection;
}

void RunOptions::add_to(CLI::App& app, bool measures) {
  SelectionOptions::add_to(app);
  app.add_option("--problem", problem,
                 "quick, official, key=value,... or an operator's shorthand such as N,C,D,H,W "
                 "(default: quick on a CPU, official on a GPU)")
      ->type_name("SIZES");
  app.add_option(
         "--configuration", configuration,
         "default; wisdom: the best that 'tune' has found for the variant, device and problem, "
         "else for another problem, else for another device of the same architecture, else the "
         "default, and which of them is printed; all; or key=value,... where a value may be "
         "a|b or *")
      ->capture_default_str();
  app.add_option("--wisdom", wisdom, "the folder of --configuration wisdom")
      ->capture_default_str()
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  app.add_option(
         "--battery", battery,
         "cases to verify beside the timed problem: timed (none), quick, full or exhaustive")
      ->check(CLI::IsMember({"timed", "quick", "full", "exhaustive"}))
      ->capture_default_str();
  app.add_option("--judge", judge,
                 "judge in the parent process, or in the worker beside the candidate, where a "
                 "debugger or sanitizer sees both")
      ->check(CLI::IsMember({"parent", "worker"}))
      ->capture_default_str();
  app.add_option("--seed", given_seed, "of the inputs (default: a fresh one, printed)")
      ->check(whole_64_bits());
  app.add_option("--timeout", timeout_seconds, "seconds for one configuration, all phases")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  app.add_flag("--pin", pin, "tie CPU threads to cores");
  app.add_option("--csv", csv,
                 "write one row for each result, and FILE's .samples.csv with every sample")
      ->type_name("FILE");
  app.add_option("--json", json, "write the run as one document")->type_name("FILE");
  app.add_flag("--quiet", quiet, "print nothing but errors");
  app.add_flag("--every", every,
               "show every configuration in the table, not only the best of each variant");
  if (!measures) return;
  app.add_option("--with", with,
                 "show the rows of another results CSV as peers, unranked; may be given again")
      ->expected(1)
      ->take_all()
      ->type_name("FILE");
  app.add_option("--replicas", replicas,
                 "rounds over everything that was chosen, each in fresh processes with controls of "
                 "its own; 'compare' needs 8")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--max-samples", limits.max_samples, "most samples of one configuration")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--max-time", limits.max_seconds, "most seconds of sampling one configuration")
      ->check(more_than_zero())
      ->capture_default_str();
  app.add_option("--target-width", limits.target_width,
                 "stop when the median's 95% interval, over the median, is this narrow")
      ->check(more_than_zero())
      ->capture_default_str();
}

SessionOptions RunOptions::session() const {
  if (limits.max_seconds >= timeout_seconds) {
    throw Error("--max-time {} leaves nothing of --timeout {}; raise --timeout", limits.max_seconds,
                timeout_seconds);
  }
  SessionOptions options;
  options.seed = seed();
  options.battery = parse_battery(battery);
  options.judge_in_worker = judge == "worker";
  options.replicas = replicas;
  options.limits = limits;
  options.limits.min_samples = std::min(limits.min_samples, limits.max_samples);
  options.timeout_seconds = timeout_seconds;
  options.device = {.pin_threads = pin, .kernel_folder = kernel_folder};
  return options;
}

std::uint64_t RunOptions::seed() const {
  if (given_seed) return *given_seed;
  if (!drawn_seed_) drawn_seed_ = fresh_seed();
  return *drawn_seed_;
}

}  // namespace fusebench
