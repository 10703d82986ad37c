#include "harness/cli/tune_modes.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

enum Mode : unsigned { count = 1, convert = 2, replay = 4, search = 8 };

struct ModeOption {
  const char* name;
  Mode mode;
};
// The options that choose; without any of them it is a search.
constexpr std::array<ModeOption, 3> choosers = {
    {{"--space", count}, {"--import", convert}, {"--replay", replay}}};

struct OptionModes {
  std::string_view name;
  unsigned modes;  // in which it does something
};
// An option that is not here is refused in every mode, so that none is forgotten.
constexpr std::array<OptionModes, 29> table = {{
    {"--space", count},
    {"--count", count},
    {"--import", convert},
    {"--export-t4", convert},
    {"--replay", replay},
    {"--repeats", replay},
    {"--score", replay},
    {"--cutoff", replay},
    {"--filter", convert | replay | search},
    {"--strategy", replay | search},
    {"--budget", replay | search},
    {"--seed", replay | search},
    {"--csv", replay | search},
    {"--operator", search},
    {"--device", search},
    {"--kernels", search},
    {"--problem", search},
    {"--battery", search},
    {"--timeout", search},
    {"--max-samples", search},
    {"--max-time", search},
    {"--pin", search},
    {"--quiet", search},
    {"--log", search},
    {"--final", search},
    {"--compilers", search},
    {"--wisdom", search},
    {"--no-wisdom", search},
    {"--help", count | convert | replay | search},
}};

unsigned modes_of(std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const OptionModes& one) { return one.name == name; });
  return found == table.end() ? 0U : found->modes;
}

// "--replay or --import": what must be given for an option to do something.
std::string choosers_of(unsigned modes) {
  std::string text;
  for (const ModeOption& one : choosers) {
    if ((modes & one.mode) != 0) text += (text.empty() ? "" : " or ") + std::string(one.name);
  }
  return text;
}

}  // namespace

void check_tune_options(const CLI::App& tune) {
  const ModeOption* chosen = nullptr;
  for (const ModeOption& one : choosers) {
    if (tune.get_option(one.name)->count() == 0) continue;
    if (chosen != nullptr) {
      throw Error("--space, --replay and --import exclude one another; give one of them");
    }
    chosen = &one;
  }
  const unsigned mode = chosen == nullptr ? search : chosen->mode;
  for (const CLI::Option* option : tune.get_options()) {
    const std::string name = option->get_name();
    const unsigned modes = modes_of(name);
    if (option->count() == 0 || (modes & mode) != 0) continue;
    if ((modes & search) == 0) {
      throw Error("{} needs {}; see 'fusebench tune --help'", name, choosers_of(modes));
    }
    throw Error("{} does nothing with {}; leave one of them out", name, chosen->name);
  }
}

}  // namespace fusebench
