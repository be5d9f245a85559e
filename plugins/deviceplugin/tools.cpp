// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/tools.cpp - `slipway deviceplugin resources|status|node-problem`.
#include <filesystem>

#include <fmt/format.h>

#include <slipway/local_host.hpp>
#include <slipway/text.hpp>
#include <slipway/unix_socket.hpp>

#include "deviceplugin/component.hpp"
#include "deviceplugin/devices/resources.hpp"
#include "deviceplugin/status.hpp"
#include "nvidia/config/config_choice.hpp"
#include "nvidia/config/variables.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr const char* kWrittenStatus = "/run/slipway/deviceplugin/status.json";

CommandOption form() { return {"o", "text|json", "output format (default: text)"}; }

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

/// Returns the number that `devices` in a config uses for the GPU: its position on the PCI bus, which can differ from
/// NVML's index.
std::string number_of(const Device& device, const std::vector<Gpu>& gpus) {
  const std::size_t colon = device.index.find(':');
  return std::to_string(gpus[device.position].number()) +
         (colon == std::string::npos ? "" : device.index.substr(colon));
}

std::string resources_text(const Resources& resources, const std::vector<Gpu>& gpus) {
  std::string text;
  for (const auto& [name, resource] : resources) {
    text += fmt::format("{}: {} ids of {} devices{}\n", name, resource.ids.size(), resource.devices.size(),
                        resource.shared() ? fmt::format(", {}", to_string(resource.sharing)) : "");
    for (const Device& device : resource.devices)
      text += fmt::format("  {:<5} {}\n", number_of(device, gpus), device.uuid);
  }
  return text;
}

/// The config is a file of the caller, even if the machine is simulated or below another root.
Result<Settings> settings_of(const std::string& config_file, const std::string& config_name) {
  SLIPWAY_TRY(files, open_host({.root = "/", .kernel_view = "/"}));
  const Spec none(Json::object());
  if (config_file.empty()) return read_settings(none, "deviceplugin", *files, nvidia::config::process_environment);
  SLIPWAY_CHECK(nvidia::config::check_variables(none, "deviceplugin", nvidia::config::process_environment));
  return nvidia::config::read_settings_file(*files, std::filesystem::absolute(config_file).lexically_normal().string(),
                                            config_name, nvidia::config::process_environment);
}

Result<int> resources(const CommandWords& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(settings, settings_of(words.text("config-file"), words.text("config-name")));
  for (const std::string& warning : settings.warnings) io.warn(warning);
  SLIPWAY_TRY(choice, nvidia::nvml::choose_library(host));
  SLIPWAY_TRY(nvml, nvidia::nvml::Nvml::open({.library = choice, .until_exit = true, .find_hanging = true}));
  SLIPWAY_TRY(inventory, read_inventory(*nvml, host));
  SLIPWAY_TRY(managers, nvidia::read_gpu_managers(host));
  apply_managers(managers, inventory.gpus);
  for (const SilentGpu& silent : inventory.silent)
    io.log(fmt::format("GPU {} does not answer: {}", silent.index, silent.why));
  nvidia::GpuBus bus;
  place_on_bus(host, bus, inventory);
  Remarks remarks;
  SLIPWAY_TRY(made, make_resources(inventory.gpus, settings, remarks, inventory.absent));
  for (const std::string& note : remarks.notes) io.warn(note);
  for (const Missing& each : remarks.missing) {
    if (!each.is_lost)
      return Error{.code = ErrorCode::invalid, .what = each.what, .where = each.where, .next = each.next};
    io.warn(each.where + ": " + each.what + " (" + each.next + ")");
  }
  io.print(words.text("o") == "json" ? pretty(Json{{"apiVersion", "slipway.dev/v1"},
                                                   {"kind", "DevicePluginResources"},
                                                   {"settings", to_json(settings)},
                                                   {"resources", resources_json(made)}})
                                     : resources_text(made, inventory.gpus));
  return 0;
}

Result<int> status(const CommandWords& words, const Host& host, ToolIo& io) {
  const auto text = host.read(kWrittenStatus, 16U << 20U);
  if (!text)
    return Error{.code = ErrorCode::not_found,
                 .what = "the service has not run on this host since it booted",
                 .where = kWrittenStatus,
                 .next = "slipway service deviceplugin"};
  if (!service_runs(host, "deviceplugin")) io.warn("the service does not run: this is what it knew when it ended");
  if (words.text("o") == "json") {
    io.print(*text);
    return 0;
  }
  const Json known = Json::parse(*text, nullptr, false);
  if (!known.is_object())
    return Error{.code = ErrorCode::invalid,
                 .what = "this is not a file that the service wrote",
                 .where = kWrittenStatus,
                 .next = "remove the file; the service writes a new one"};
  io.print(status_text(known));
  return 0;
}

Result<int> node_problem(const CommandWords& words, const Host& host, ToolIo& io) {
  const auto text = host.read(kWrittenStatus, 16U << 20U);
  const NodeProblem found = service_runs(host, "deviceplugin") && text
                                ? node_problem_of(parse_foreign(*text), split_list(words.text("reason")))
                                : NodeProblem{NodeProblem::kUnknown, "slipway's device plugin does not run"};
  io.print(found.line + "\n");
  return found.code;
}

}  // namespace

Tools::Tools()
    : ToolTable(
          {{"resources",
            "prints what kubelet would be offered",
            {.about = "Prints what kubelet would be offered: each resource with its devices.",
             .notes = "The environment variables of the device plugin's flags are used as well. The host spec is not "
                      "read: name its "
                      "config with --config-file; `slipway deviceplugin status` prints what the service offers.",
             .options = {{.name = "config-file",
                          .value = "FILE",
                          .help = "a config of NVIDIA's device plugin, a ConfigMap, or a folder of configs",
                          .variables = {"CONFIG_FILE"}},
                         {.name = "config-name", .value = "NAME", .help = "which of several configs to use"},
                         form()},
             .examples = {"slipway deviceplugin resources", "slipway deviceplugin resources --config-file config.yaml"},
             .last_counts = true},
            resources},
           {"status",
            "prints what the running service knows: a table of the GPUs, their health",
            {.about = "Prints what the running service knows: a table of the GPUs with their health, what is wrong and "
                      "what helps, who holds memory, and the resources that kubelet has.",
             .options = {form()},
             .examples = {"slipway deviceplugin status", "slipway deviceplugin status -o json"}},
            status},
           {"node-problem",
            "prints in one line what is wrong with the GPUs, for node-problem-detector",
            {.about = "Prints in one line what is wrong with the GPUs, for node-problem-detector. Exit status: 0 "
                      "nothing, 1 a GPU is unhealthy, 2 unknown, since the service does not run.",
             .notes = "docs/components/deviceplugin.md has the monitor's configuration.",
             .options =
                 {{"reason", "WORDS",
                   "only these reasons: xid, lost, hangs, ecc, recovery-action, driver-gone, or one such as xid-79 "
                   "(default: all)"}},
             .examples = {"slipway deviceplugin node-problem", "slipway deviceplugin node-problem --reason xid,ecc"}},
            node_problem}}) {}

}  // namespace slipway::deviceplugin
