// fusebench compare: two results files, a verdict on each series.
#include <future>
#include <memory>

#include "harness/cli/commands.hpp"
#include "harness/cli/comparison_report.hpp"
#include "harness/record/csv_reader.hpp"

namespace fusebench {
namespace {

struct CompareOptions : ComparisonOptions {
  std::string before;
  std::string after;
};

Night read_night(const std::string& path) {
  Night night(path);
  read_records(path, [&](const Record& record) { night.add(record); });
  return night;
}

int compare_files(const CompareOptions& options) {
  options.check_outputs({options.before, options.after});
  auto reading = std::async(std::launch::async, read_night, options.before);
  const Night after = read_night(options.after);
  const Night before = reading.get();
  return report(compare(before, after, options.rules()), {options.before, options.after}, options);
}

}  // namespace

Command add_compare_command(CLI::App& program) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* app = program.add_subcommand(
      "compare", "Say of every series in two results files whether it became slower or wrong");
  app->add_option("OLD", options->before, "a results CSV, its series with 8 replicas or more")
      ->required()
      ->type_name("FILE");
  app->add_option("NEW", options->after, "another, to be judged by the first")
      ->required()
      ->type_name("FILE");
  options->add_to(*app);
  app->footer("Exit codes: 0 nothing slower or newly wrong, 1 something is, 2 no series has a "
              "verdict.\nExample: fusebench compare last_night.csv tonight.csv --floor 1%");
  return {app, [options] { return compare_files(*options); }};
}

}  // namespace fusebench
