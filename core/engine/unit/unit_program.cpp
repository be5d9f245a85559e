// SPDX-License-Identifier: Apache-2.0
#include "core/engine/unit/units.hpp"
#include "core/loader/installation.hpp"

#ifndef SLIPWAY_BIN_DIR
#error "the build names the folder of the program"
#endif

namespace slipway::core {

std::string unit_program_in(const std::string& root, const std::string& prefix, bool portable) {
  constexpr const char* kInstalled = SLIPWAY_BIN_DIR "/slipway";
  if (!portable) return kInstalled;
  const std::string above = root == "/" ? "" : root;
  if (!prefix.starts_with(above + "/")) return kInstalled;
  return prefix.substr(above.size()) + "/bin/slipway";
}

std::string unit_program(const Session& session) {
  return unit_program_in(session.host_config().root, own_prefix().string(), is_portable());
}

}  // namespace slipway::core
