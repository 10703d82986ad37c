// fusebench list: what there is, and what can run here.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>

#include "harness/cli/commands.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/table.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"

namespace fusebench {
namespace {

struct ListOptions : SelectionOptions {
  bool json = false;
};

nlohmann::json parameters_of(const ParameterSpace& space) {
  nlohmann::json all = nlohmann::json::array();
  for (const Parameter& parameter : space.parameters()) {
    all.push_back({{"name", parameter.name},
                   {"values", parameter.values},
                   {"default", parameter.default_value}});
  }
  return all;
}

nlohmann::json constraints_of(const ParameterSpace& space) {
  nlohmann::json all = nlohmann::json::array();
  for (const Expression& constraint : space.constraints()) all.push_back(constraint.text());
  return all;
}

int list(const ListOptions& options) {
  SessionOptions session;
  session.measure = false;
  std::vector<Item> items = plan_session(options.selection(), session);
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::pair(a.job.operator_name, a.device) < std::pair(b.job.operator_name, b.device);
  });
  std::vector<std::vector<std::string>> rows = {
      {"operator", "variant", "device", "precision", "in place", "configurations", "available"}};
  nlohmann::json document = nlohmann::json::array();
  for (const Item& item : items) {
    const VariantInfo& info = item.variant->info();
    const Problem problem = item.op->parse_problem(item.job.problem);
    const std::size_t configurations = info.parameters.all(item.properties).size();
    rows.push_back({info.operator_name, info.name, std::string(to_string(info.device)),
                    std::string(to_string(info.precision)), std::string(to_string(info.in_place)),
                    std::to_string(configurations),
                    item.unavailable.empty() ? "yes" : "no: " + item.unavailable});
    document.push_back(
        {{"operator", info.operator_name},
         {"variant", info.name},
         {"idea", info.idea},
         {"device", to_string(info.device)},
         {"precision", to_string(info.precision)},
         {"in_place", to_string(info.in_place)},
         {"configurations", configurations},
         {"default_configuration", info.parameters.default_configuration().to_string()},
         {"parameters", parameters_of(info.parameters)},
         {"constraints", constraints_of(info.parameters)},
         {"available", item.unavailable.empty()},
         {"reason", item.unavailable},
         {"problem", item.job.problem},
         {"useful_bytes", item.op->useful_bytes(problem)},
         {"flops", item.op->flops(problem)}});
  }
  constexpr std::array<std::size_t, 6> left = {0, 1, 2, 3, 4, 6};
  fmt::print("{}", options.json ? document.dump(2) + "\n" : align(rows, left));
  for (const DeviceKind kind : options.selection().devices) {
    const auto traits = probe_device(kind).traits;
    if (options.json || !traits || traits->sharing_refused.empty()) continue;
    fmt::print("{} variants are judged in the process that runs them: {}\n", to_string(kind),
               traits->sharing_refused);
  }
  return as_hoped;
}

}  // namespace

Command add_list_command(CLI::App& program) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* app =
      program.add_subcommand("list", "Show operators and variants, and which can run here");
  options->add_to(*app);
  app->add_option("--problem", options->problem, "say which variants do this problem")
      ->type_name("SIZES");
  app->add_flag("--json", options->json, "print JSON");
  app->footer("Example: fusebench list --device cuda --json");
  return {app, [options] { return list(*options); }};
}

}  // namespace fusebench
