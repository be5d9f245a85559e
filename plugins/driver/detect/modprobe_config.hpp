// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/modprobe_config.hpp - the settings for the driver's modules in the site's modprobe.d and on the
// kernel's command line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway::driver {

/// One line of a file other than slipway's own, or one parameter of the running kernel.
struct ModprobeLine {
  std::string where;    ///< "/etc/modprobe.d/x.conf:3", "/proc/cmdline"
  std::string command;  ///< "install", "alias", "blacklist", "options"; "module_blacklist" of the kernel itself
  std::string module;   ///< in the spelling of nvidia::kModules
  std::string rest;     ///< the text after the module's name: a command, the alias's target, options
  bool later = false;   ///< modprobe reads it after slipway's own file, so its options override slipway's

  std::string text() const;  ///< "install nvidia /bin/false"
  /// True when the line keeps the module from being loaded.
  bool prevents_loading() const;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ModprobeLine, where, command, module, rest, later)

/// Returns at most 64 lines, in modprobe's order.
std::vector<ModprobeLine> read_modprobe_config(const Host& host);

/// Returns the parameters in the text of an `options` line: {"NVreg_A", "1"}.
std::map<std::string, std::string> options_in(const std::string& rest);

/// By module and name: the values of the given parameters in the loaded modules.
using ParameterValues = std::map<std::string, std::map<std::string, std::string>>;
ParameterValues read_loaded_parameters(const Host& host, const ParameterValues& wanted);

/// True when two texts give a parameter the same value: 1, 0x1 and Y are equal, and the driver shows -1 as 4294967295.
bool same_value(const std::string& one, const std::string& other);

}  // namespace slipway::driver
