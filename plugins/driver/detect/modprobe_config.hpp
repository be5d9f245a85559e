// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/modprobe_config.hpp - what the site's modprobe.d and the kernel's command line say about the
// driver's modules.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway::driver {

/// One line of a file other than slipway's own, or one parameter of the kernel that runs.
struct ModprobeLine {
  std::string where;    ///< "/etc/modprobe.d/x.conf:3", "/proc/cmdline"
  std::string command;  ///< "install", "alias", "blacklist", "options"; "module_blacklist" of the kernel itself
  std::string module;   ///< as nvidia::kModules spells it
  std::string rest;     ///< what follows the module's name: a command, the alias's target, options
  bool later = false;   ///< modprobe reads it after slipway's own file, so that its options win

  std::string text() const;  ///< "install nvidia /bin/false"
  /// The module is never loaded because of it.
  bool prevents_loading() const;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ModprobeLine, where, command, module, rest, later)

/// In the order in which modprobe reads them; at most 64.
std::vector<ModprobeLine> read_modprobe_config(const Host& host);

/// The parameters in the text of an `options` line: {"NVreg_A", "1"}.
std::map<std::string, std::string> options_in(const std::string& rest);

/// By module and name: the values of those parameters that the loaded modules show.
using ParameterValues = std::map<std::string, std::map<std::string, std::string>>;
ParameterValues read_loaded_parameters(const Host& host, const ParameterValues& wanted);

/// Do two texts give a parameter the same value? 1, 0x1 and Y are equal, and -1 is what the driver shows as 4294967295.
bool same_value(const std::string& one, const std::string& other);

}  // namespace slipway::driver
