// SPDX-License-Identifier: Apache-2.0
#include "core/action/trigger/trigger.hpp"

#include <array>

#include "core/action/trigger/triggers.hpp"

namespace slipway::core {
namespace {

constexpr std::array kPlain{"ldconfig", "daemon-reload"};
constexpr std::array kWithArgument{"depmod", "initramfs", "restart", "reload"};

/// "depmod:6.1.0" in its two parts.
std::pair<std::string, std::string> name_and_argument(const std::string& trigger) {
  const std::size_t colon = trigger.find(':');
  if (colon == std::string::npos) return {trigger, {}};
  return {trigger.substr(0, colon), trigger.substr(colon + 1)};
}

/// A kernel release or unit name: never an option, never a path.
bool is_plain_name(const std::string& argument) {
  return !argument.empty() && argument[0] != '-' && argument[0] != '.' &&
         argument.find_first_of("/ \t\n\"'\\;&|$`") == std::string::npos;
}

}  // namespace

Result<Prospect> foresee_trigger(const std::string& trigger, const Host& host) {
  SLIPWAY_CHECK(check_trigger_name(trigger));
  const auto [name, argument] = name_and_argument(trigger);
  if (name == "ldconfig") return foresee_ldconfig(host);
  if (name == "depmod") return foresee_depmod(argument, host);
  if (name == "initramfs") return foresee_initramfs(argument, host);
  return foresee_systemd(host);
}

Status check_trigger_name(const std::string& trigger) {
  const auto [name, argument] = name_and_argument(trigger);
  for (const char* plain : kPlain)
    if (trigger == plain) return {};
  for (const char* known : kWithArgument)
    if (name == known && is_plain_name(argument)) return {};
  return Error{
      ErrorCode::invalid,
      "'" + trigger +
          "' is no trigger; there are ldconfig, depmod:RELEASE, initramfs:RELEASE, daemon-reload, restart:UNIT "
          "and reload:UNIT",
      trigger,
      "this is a defect of the component that planned it; report it to its authors",
      {}};
}

Result<TriggerRun> run_trigger(const std::string& trigger, ActionContext& context) {
  SLIPWAY_CHECK(check_trigger_name(trigger));
  const auto [name, argument] = name_and_argument(trigger);
  if (name == "ldconfig") return run_ldconfig(context);
  if (name == "depmod") return run_depmod(argument, context);
  if (name == "initramfs") return run_initramfs(argument, context);
  if (name == "daemon-reload") return run_daemon_reload(context);
  if (name == "restart") return run_restart(argument, context);
  return run_reload(argument, context);
}

std::vector<std::string> trigger_products(const std::string& trigger, const Host& host) {
  const auto [name, argument] = name_and_argument(trigger);
  if (name == "depmod") return depmod_products(argument);
  if (name != "ldconfig") return {};
  std::vector<std::string> files{"/etc/ld.so.cache"};
  if (host.live()) files.emplace_back("/var/cache/ldconfig/aux-cache");
  return files;
}

}  // namespace slipway::core
