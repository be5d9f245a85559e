// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/tools.cpp - `slipway deviceplugin resources|status`.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include <slipway/local_host.hpp>
#include <slipway/unix_socket.hpp>

#include "deviceplugin/component.hpp"
#include "deviceplugin/config/choose.hpp"
#include "deviceplugin/devices/managers.hpp"
#include "deviceplugin/devices/resources.hpp"
#include "deviceplugin/status.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr const char* kWrittenStatus = "/run/slipway/deviceplugin/status.json";
constexpr const char* kResourcesUsage =
    "Usage: slipway deviceplugin resources [--config-file FILE] [-o text|json]\n\n"
    "Prints what kubelet would be offered: each resource with its devices. FILE is a config of NVIDIA's device "
    "plugin,\n"
    "a ConfigMap, or a folder of configs (default: the variable CONFIG_FILE); its flags' environment variables count "
    "as\n"
    "well.\n";
constexpr const char* kStatusUsage =
    "Usage: slipway deviceplugin status [-o text|json]\n\n"
    "Prints what the running service knows: a table of the GPUs with their health, what is wrong and what helps, who\n"
    "holds memory, and the resources that kubelet has.\n";

struct Arguments {
  std::string config_file;
  bool json = false;
  bool help = false;
};

const char* variable(const char* name) { return std::getenv(name); }

Error usage_error(std::string_view tool, std::string what) {
  return Error{.code = ErrorCode::usage,
               .what = std::move(what),
               .where = "command line",
               .next = fmt::format("`slipway deviceplugin {} --help`", tool)};
}

Result<Arguments> read_arguments(std::string_view tool, const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool more = i + 1 < words.size();
    if (words[i] == "--help" || words[i] == "-h")
      arguments.help = true;
    else if (words[i] == "--config-file" && more && tool == "resources")
      arguments.config_file = words[++i];
    else if (words[i].starts_with("--config-file=") && tool == "resources")
      arguments.config_file = words[i].substr(words[i].find('=') + 1);
    else if (words[i] == "-o" && more && (words[i + 1] == "json" || words[i + 1] == "text"))
      arguments.json = words[++i] == "json";
    else if (words[i] == "-o" && more)
      return usage_error(tool, "-o takes text or json, not '" + words[i + 1] + "'");
    else
      return usage_error(tool, "'" + words[i] + "' is not understood");
  }
  const char* const named = variable("CONFIG_FILE");
  if (arguments.config_file.empty() && named != nullptr) arguments.config_file = named;
  return arguments;
}

Json resources_json(const Resources& resources) {
  Json list = Json::array();
  for (const auto& [name, resource] : resources) {
    Json ids = Json::array();
    for (const Id& id : resource.ids)
      ids.push_back(
          {{"id", id.id}, {"index", resource.devices[id.device].index}, {"paths", resource.devices[id.device].paths}});
    list.push_back({{"name", name}, {"sharing", to_string(resource.sharing)}, {"ids", ids}});
  }
  return list;
}

std::string resources_text(const Resources& resources) {
  std::string text;
  for (const auto& [name, resource] : resources) {
    text += fmt::format("{}: {} ids of {} devices{}\n", name, resource.ids.size(), resource.devices.size(),
                        resource.shared() ? fmt::format(", {}", to_string(resource.sharing)) : "");
    for (const Device& device : resource.devices) text += fmt::format("  {:<5} {}\n", device.index, device.uuid);
  }
  return text;
}

/// The config is a file of whoever calls, also where the machine is a simulated one below another root.
Result<Settings> settings_of(const Arguments& arguments) {
  SLIPWAY_TRY(files, open_host({.root = "/", .kernel_view = "/"}));
  Json section = Json::object();
  if (!arguments.config_file.empty())
    section["config_file"] = std::filesystem::absolute(arguments.config_file).lexically_normal().string();
  return read_settings(Spec(section), *files, variable);
}

Result<int> resources(const Arguments& arguments, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(settings, settings_of(arguments));
  for (const std::string& warning : settings.warnings) io.log(warning);
  SLIPWAY_TRY(choice, nvidia::nvml::choose_library(host));
  SLIPWAY_TRY(nvml, nvidia::nvml::Nvml::open({.library = choice}));
  SLIPWAY_TRY(inventory, read_inventory(*nvml, host));
  SLIPWAY_TRY(managers, read_managers(host));
  apply_managers(managers, inventory.gpus);
  for (const SilentGpu& silent : inventory.silent)
    io.log(fmt::format("GPU {} cannot be asked: {}", silent.index, silent.why));
  std::vector<std::string> notes;
  SLIPWAY_TRY(made, make_resources(inventory.gpus, settings, notes));
  for (const std::string& note : notes) io.log(note);
  io.print(arguments.json ? pretty(Json{{"apiVersion", "slipway.dev/v1"},
                                        {"kind", "DevicePluginResources"},
                                        {"settings", to_json(settings)},
                                        {"resources", resources_json(made)}})
                          : resources_text(made));
  return 0;
}

Result<int> status(const Arguments& arguments, const Host& host, ToolIo& io) {
  const auto text = host.read(kWrittenStatus, 16U << 20U);
  if (!text)
    return Error{.code = ErrorCode::not_found,
                 .what = "the service has not run on this host since it booted",
                 .where = kWrittenStatus,
                 .next = "slipway service deviceplugin"};
  if (!service_runs(host, "deviceplugin")) io.warn("the service does not run: this is what it knew when it ended");
  if (arguments.json) {
    io.print(*text);
    return 0;
  }
  const Json known = Json::parse(*text, nullptr, false);
  if (!known.is_object())
    return Error{.code = ErrorCode::invalid,
                 .what = "this is not what the service writes",
                 .where = kWrittenStatus,
                 .next = "remove the file; the service writes it anew"};
  io.print(status_text(known));
  return 0;
}

}  // namespace

std::vector<ToolInfo> Tools::list() const {
  return {{"resources", "prints what kubelet would be offered", kResourcesUsage},
          {"status", "prints what the running service knows: a table of the GPUs, their health", kStatusUsage}};
}

Result<int> Tools::run(std::string_view tool, const std::vector<std::string>& words, const Host& host,
                       ToolIo& io) const {
  SLIPWAY_TRY(arguments, read_arguments(tool, words));
  if (arguments.help) {
    io.print(tool == "status" ? kStatusUsage : kResourcesUsage);
    return 0;
  }
  if (tool == "resources") return resources(arguments, host, io);
  return status(arguments, host, io);
}

}  // namespace slipway::deviceplugin
