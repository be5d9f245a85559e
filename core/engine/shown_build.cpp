// SPDX-License-Identifier: Apache-2.0
#include "core/engine/shown_build.hpp"

#include "core/engine/stop.hpp"

namespace slipway::core {

Status run_build_shown(sandbox::BuildRequest request, Ui& ui, const Subject& about) {
  const std::string label = "compiling " + request.build.value("name", about.component);
  std::uint64_t files = 0;
  request.on_line = [&](const std::string& line) { ui.log(Ui::Level::debug, about, line); };
  request.on_file = [&](const std::string& file, std::uint64_t before) {
    files = before + 1;
    ui.progress(about.component, {label + ": " + file, before, 0, Progress::Unit::files});
  };
  request.cancel = &stop_flag();
  Status built = sandbox::run_build(request);
  if (built && files > 0) ui.progress(about.component, {label, files, files, Progress::Unit::files});
  if (!built && built.error().code == ErrorCode::cancelled) SLIPWAY_CHECK(check_not_stopped());
  return built;
}

}  // namespace slipway::core
