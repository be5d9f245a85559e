// SPDX-License-Identifier: Apache-2.0
#include "driver/build/tools.hpp"

#include "driver/build/options.hpp"
#include "driver/build/package_build.hpp"
#include "driver/kernels/kernels_tool.hpp"

namespace slipway::driver {
namespace {

Result<int> run_build(const CommandWords& words, const Host&, ToolIo& io) {
  SLIPWAY_TRY(options, build_options(words));
  SLIPWAY_CHECK(PackageBuild(options, io).run());
  return 0;
}

}  // namespace

DriverTools::DriverTools()
    : ToolTable(
          "driver",
          {{"build", "makes a driver package from Debian's files, for one kernel", build_line(), run_build},
           {"kernels", "lists a root's kernels, and which have the driver's modules", kernels_line(), run_kernels}}) {}

}  // namespace slipway::driver
