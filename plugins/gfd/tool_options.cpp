// SPDX-License-Identifier: Apache-2.0
#include "gfd/tool_options.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include <slipway/local_host.hpp>
#include <slipway/text.hpp>

#include "nvidia/config/config_choice.hpp"

namespace slipway::gfd {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "localhost";
}

/// The config is a file of the caller's machine, also when another machine is inspected.
Status read_config_file(const std::string& file, const std::string& name, Config& config) {
  if (file.empty()) return {};
  SLIPWAY_TRY(files, open_host({.root = "/", .kernel_view = "/"}));
  SLIPWAY_TRY(settings, nvidia::config::read_settings_file(*files, std::filesystem::absolute(file).lexically_normal(),
                                                           name, nvidia::config::no_environment));
  return take_settings(settings, config);
}

CommandTable line(std::string forms, std::vector<CommandOption> more) {
  CommandTable table{
      .options = {{"o", std::move(forms), "output format"},
                  {.name = "output",
                   .value = "FILE",
                   .help = "file to write, replaced as a whole when its content changes (default: standard output)",
                   .aliases = {"output-file"}},
                  {"driver-root", "DIR", "where the driver is installed (default: /)"},
                  {.name = "fail-on-init-error",
                   .help = "fails without a driver",
                   .variables = {"GFD_FAIL_ON_INIT_ERROR", "FAIL_ON_INIT_ERROR"}}},
      .last_counts = true,
      .empty_variables = true};
  table.options.insert(table.options.end(), more.begin(), more.end());
  return table;
}

std::vector<std::string> variables_of(const CommandTable& table) {
  std::vector<std::string> names;
  for (const CommandOption& option : table.options)
    names.insert(names.end(), option.variables.begin(), option.variables.end());
  return names;
}

}  // namespace

CommandTable labels_line() {
  CommandTable table = line(
      "text|json|nodefeature|node-patch",
      {{.name = "no-timestamp", .help = "leaves out the time when they were made", .variables = {"GFD_NO_TIMESTAMP"}},
       {.name = "mig-strategy",
        .value = "none|single|mixed",
        .help = "how MIG devices are labelled (default: none)",
        .variables = {"GFD_MIG_STRATEGY", "MIG_STRATEGY"}},
       {.name = "config-file",
        .value = "FILE",
        .help = "a config of NVIDIA's device plugin, a ConfigMap, or a folder of configs; options and variables "
                "override it",
        .variables = {"GFD_CONFIG_FILE", "CONFIG_FILE"}},
       {.name = "config-name", .value = "NAME", .help = "which of several configs in the file or folder to use"},
       {.name = "machine-type-file",
        .value = "FILE",
        .help = "the type of the machine",
        .variables = {"GFD_MACHINE_TYPE_FILE"}},
       {.name = "operator-labels", .help = "prints also the labels that NVIDIA's operator sets"},
       {.name = "pci-labels", .help = "prints also feature.node.kubernetes.io/pci-10de.present"},
       {.name = "node-name",
        .value = "NAME",
        .help = "with -o nodefeature: the node (default: the variable NODE_NAME, else the host's name)"},
       {.name = "namespace", .value = "NAME", .help = "with -o nodefeature: the object's namespace"},
       {.name = "oneshot", .help = ""}});
  table.about =
      "Prints the node labels of GPU Feature Discovery, one key=value a line, sorted. Without a driver there are few "
      "labels.";
  table.notes =
      "These variables of gpu-feature-discovery are used, after the command line: " +
      joined(variables_of(table), ", ") +
      ". Others, such as GFD_OUTPUT_FILE, are ignored. The host spec is not read: name its config with --config-file; "
      "`slipway verify` compares the labels of the service with what the spec asks for.";
  table.examples = {"slipway gfd labels", "slipway gfd labels --no-timestamp -o json",
                    "slipway gfd labels -o nodefeature --namespace node-feature-discovery | kubectl apply -f -",
                    "kubectl patch node NAME --type merge -p \"$(slipway gfd labels -o node-patch)\""};
  return table;
}

CommandTable devices_line() {
  CommandTable table =
      line("text|yaml|json", {{.name = "node-name",
                               .value = "NAME",
                               .help = "the node's name (default: the variable NODE_NAME, else the host's name)",
                               .variables = {"NODE_NAME"}}});
  table.about = "Prints a Device object (gpu.nvidia.com/v1) for each GPU of this node.";
  table.examples = {"slipway gfd devices", "slipway gfd devices -o json --node-name gpu-1"};
  return table;
}

Result<ToolOptions> read_tool_options(const CommandWords& words, bool labels_tool) {
  ToolOptions options;
  Config& config = options.config;
  SLIPWAY_CHECK(read_config_file(words.text("config-file"), words.text("config-name"), config));
  if (words.given("mig-strategy")) {
    SLIPWAY_TRY(strategy, parse_mig_strategy(words.text("mig-strategy"), "command line"));
    config.mig_strategy = strategy;
  }
  config.timestamp = !words.flag("no-timestamp", !config.timestamp);
  config.operator_labels = words.flag("operator-labels");
  config.pci_labels = words.flag("pci-labels");
  config.machine_type_file = words.text("machine-type-file", config.machine_type_file);
  config.driver_root = words.text("driver-root", config.driver_root);
  for (std::string* path : {&config.machine_type_file, &config.driver_root})
    if (!path->empty()) *path = std::filesystem::absolute(*path).lexically_normal().string();
  options.output = words.text("output");
  options.json = words.text("o") == "json";
  options.form = words.text("o", "text");
  options.name_space = words.text("namespace");
  for (const char* name : {"namespace", "node-name"})
    if (labels_tool && words.given(name) && options.form != "nodefeature")
      return Error{.code = ErrorCode::usage,
                   .what = std::string("--") + name + " has an effect only with -o nodefeature",
                   .where = "command line",
                   .next = "leave it out, or add -o nodefeature"};
  options.node = words.text("node-name");
  if (const char* named = std::getenv("NODE_NAME"); options.node.empty() && named != nullptr) options.node = named;
  if (options.node.empty()) options.node = host_name();
  options.fail_without_driver = words.flag("fail-on-init-error");
  return options;
}

}  // namespace slipway::gfd
