// The hidden subcommand that worker processes are started with.
#include <memory>

#include "harness/cli/commands.hpp"
#include "harness/session/worker.hpp"
#include "harness/session/worker_process.hpp"

namespace fusebench {

Command add_worker_command(CLI::App& program) {
  struct Options {
    int descriptor = -1;
    std::string device;
    DeviceOptions open;
  };
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(worker_command)->group("");
  app->add_option("--descriptor", options->descriptor)->required();
  app->add_option("--device", options->device)->required();
  app->add_flag("--pin", options->open.pin_threads);
  app->add_option("--kernels", options->open.kernel_folder);
  return {app, [options] {
            return serve_judge(options->descriptor, parse_device_kind(options->device),
                               options->open);
          }};
}

}  // namespace fusebench
