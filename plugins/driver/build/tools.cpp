// SPDX-License-Identifier: Apache-2.0
#include "driver/build/tools.hpp"

#include <fmt/format.h>

#include "driver/build/options.hpp"
#include "driver/build/package_build.hpp"
#include "driver/kernels/kernels_tool.hpp"

namespace slipway::driver {

std::vector<ToolInfo> DriverTools::list() const {
  return {{"build", "makes a driver package from Debian's files, for one kernel", build_usage()},
          {"kernels", "lists a root's kernels, and which have the driver's modules", kernels_usage()}};
}

Result<int> DriverTools::run(std::string_view tool, const std::vector<std::string>& arguments, const Host& host,
                             ToolIo& io) const {
  if (tool == "kernels") return run_kernels(arguments, host, io);
  if (tool != "build")
    return Error{ErrorCode::not_found,
                 fmt::format("the component driver has no tool '{}'", tool),
                 {},
                 "`slipway driver build --help` and `slipway driver kernels --help` show those that there are",
                 {}};
  for (const auto& argument : arguments)
    if (argument == "--help" || argument == "-h") {
      io.print(build_usage());
      return 0;
    }
  SLIPWAY_TRY(options, parse_build_options(arguments));
  SLIPWAY_CHECK(PackageBuild(options, io).run());
  return 0;
}

}  // namespace slipway::driver
