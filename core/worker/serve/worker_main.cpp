// SPDX-License-Identifier: Apache-2.0
// slipway-worker PLUGIN PARENT-PID: the process around one plugin. Descriptor 3 leads to slipway.
// slipway-worker --tool PLUGIN COMPONENT TOOL [ARGUMENT…]: runs one tool of a plugin for the calling program.
#include <cstdio>
#include <string_view>

#include <unistd.h>

#include "base/write/standard_output.hpp"
#include "core/worker/serve/serve.hpp"

int main(int count, char** arguments) {
  if (count > 1 && std::string_view(arguments[1]) == "--tool") {
    slipway::base::begin_program();
    const int status = slipway::core::run_tool_alone({arguments + 2, arguments + count});
    std::fflush(nullptr);
    _exit(status);  // does not wait for a call of the plugin that hangs
  }
  return slipway::core::serve_as_worker(count, arguments, [&](const slipway_services* services) {
    return slipway::core::PluginLibrary::load(arguments[1], services);
  });
}
