// fusebench tune: search a space of configurations, recorded or alive, for the best.
#include <fmt/format.h>

#include <memory>

#include "harness/cli/commands.hpp"
#include "harness/cli/options.hpp"
#include "harness/core/error.hpp"
#include "harness/tune/t1.hpp"

namespace fusebench {
namespace {

struct TuneOptions {
  std::string space;
  bool count = false;
};

int tune(const TuneOptions& options) {
  if (options.space.empty()) throw Error("nothing to tune: give --space FILE");
  const SearchSpace space = read_t1(options.space);
  fmt::print("{} of {:.0f} combinations are valid configurations\n", space.size(),
             space.raw_size());
  return as_hoped;
}

}  // namespace

Command add_tune_command(CLI::App& program) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App* app =
      program.add_subcommand("tune", "Search a space of configurations for the fastest");
  app->add_option("--space", options->space, "a T1 file, which describes a space")
      ->type_name("FILE");
  app->add_flag("--count", options->count, "say how many configurations it has");
  app->footer("Example: fusebench tune --space convolution_T1.json --count");
  return {app, [options] { return tune(*options); }};
}

}  // namespace fusebench
