// SPDX-License-Identifier: Apache-2.0
#include <slipway/text.hpp>

#include "toolkit/cdi/component/tools.hpp"

namespace slipway::toolkit {
namespace {

Error wrong(const std::string& what) { return generate_line().wrong(what); }

/// The error for an unknown word in a list.
Error wrong_word(const std::string& what, const std::string& word, const std::vector<std::string>& known) {
  Error error = wrong(what);
  error.next = suggestion(word, known, error.next);
  return error;
}

/// Adds nvidia-ctk's variable for the option.
CommandOption option(const char* name, const char* value, const char* help, const char* variable) {
  return {.name = name, .value = value, .help = help, .variables = {std::string("NVIDIA_CTK_") + variable}};
}

CommandOption list(const char* name, const char* value, const char* help, const char* variable) {
  CommandOption made = option(name, value, help, variable);
  made.repeats = true;
  return made;
}

Status take_features(const std::vector<std::string>& features, GenerateOptions& options) {
  for (const std::string& feature : features) {
    if (feature == "no-additional-gids-for-device-nodes")
      options.additional_gids = false;
    else if (feature == "disable-ipc-discoverer")
      options.sockets = false;
    else if (feature == "enable-explicit-driver-libraries")
      options.explicit_libraries = true;
    else if (feature == "enable-coherent-annotations")
      options.coherent = true;
    else if (feature != "disable-nvsandboxutils" &&
             feature != "disable-nvsandbox-utils")  // slipway never uses this library
      return wrong_word("--feature-flag " + feature + " is not known to slipway", feature,
                        {"no-additional-gids-for-device-nodes", "disable-ipc-discoverer",
                         "enable-explicit-driver-libraries", "enable-coherent-annotations"});
  }
  return {};
}

Status take_names(const std::vector<std::string>& strategies, GenerateOptions& options) {
  if (!strategies.empty()) options.names.clear();
  for (const std::string& word : strategies) {
    const auto naming = parse_naming(word);
    if (!naming)
      return wrong_word("--device-name-strategy takes index, uuid or type-index, not '" + word + "'", word,
                        {"index", "uuid", "type-index"});
    options.names.push_back(*naming);
  }
  return {};
}

Status check_paths(const GenerateArguments& arguments) {
  const GenerateOptions& options = arguments.options;
  std::vector<std::string> paths{arguments.driver_root, arguments.dev_root, options.container_library_folder,
                                 options.hooks.path, options.hooks.ldconfig};
  for (const auto* folders : {&options.library_folders, &options.config_folders})
    paths.insert(paths.end(), folders->begin(), folders->end());
  for (const std::string& path : paths)
    if (!path.empty() && !path.starts_with('/'))
      return wrong("'" + path + "' is not an absolute path in the root of the host or of a container");
  return {};
}

}  // namespace

CommandTable generate_line() {
  return {
      .call = "slipway cdi generate",
      .about = "Writes the CDI spec of this machine's GPUs, with which container engines give them to containers.",
      .notes =
          "An option that is not given takes the value of nvidia-ctk's variable for it "
          "(NVIDIA_CTK_CDI_GENERATE_MODE, …).",
      .options =
          {option("output", "FILE", "where to write it (default: standard output)", "CDI_OUTPUT_FILE_PATH"),
           option("format", "yaml|json", "its format (default: by the file's name, else yaml)",
                  "CDI_GENERATE_OUTPUT_FORMAT"),
           option("mode", "auto|nvml|management|gds|mofed|gdrcopy|nvswitch|imex",
                  "which devices it describes (default: auto, the GPUs)", "CDI_GENERATE_MODE"),
           list("device-name-strategy", "WAY", "index, uuid or type-index (default: index and uuid)",
                "CDI_GENERATE_DEVICE_NAME_STRATEGIES"),
           list("device-id", "ID", "only these: index, GPU:MIG index, UUID, IMEX channel", "CDI_GENERATE_DEVICE_IDS"),
           option("no-all-device", "", "without the device `all`", "CDI_GENERATE_NO_ALL_DEVICE"),
           option("driver-root", "DIR", "where the driver is installed (default: /)", "DRIVER_ROOT"),
           option("dev-root", "DIR", "where the device nodes are (default: the driver root)", "DEV_ROOT"),
           list("library-search-path", "DIR", "library folders instead of the usual ones",
                "CDI_GENERATE_LIBRARY_SEARCH_PATHS"),
           list("config-search-path", "DIR",
                "folders to search for configuration files of graphics, instead of the default ones",
                "CDI_GENERATE_CONFIG_SEARCH_PATHS"),
           option("nvidia-cdi-hook-path", "FILE", "the program that hooks start (default: /usr/bin/slipway-cdi-hook)",
                  "CDI_HOOK_PATH"),
           list("disable-hook", "NAME", "leaves a hook out; all: a spec without hooks", "CDI_GENERATE_DISABLED_HOOKS"),
           list("enable-hook", "NAME", "adds a hook that is left out by default (chmod)", "CDI_GENERATE_ENABLED_HOOKS"),
           option("ldconfig-path", "FILE", "the host's ldconfig, for update-ldcache", "CDI_GENERATE_LDCONFIG_PATH"),
           option("vendor", "NAME", "the kind is VENDOR/CLASS (default: the mode's, nvidia.com/gpu)",
                  "CDI_GENERATE_VENDOR"),
           option("class", "NAME", "see --vendor", "CDI_GENERATE_CLASS"),
           {"container-library-dir", "DIR",
            "where containers have libraries, for specs without hooks (default: as here)"},
           list("feature-flag", "FLAG",
                "no-additional-gids-for-device-nodes, disable-ipc-discoverer, "
                "enable-explicit-driver-libraries, enable-coherent-annotations",
                "CDI_GENERATE_FEATURE_FLAGS"),
           {"o", "FORM"}},
      .examples = {"slipway cdi generate --output /var/run/cdi/nvidia.yaml",
                   "slipway cdi generate --mode management --format json"},
      .last_counts = true};
}

Result<GenerateArguments> generate_arguments(const CommandWords& words) {
  if (words.given("o")) return wrong("-o is not an option here: --format json writes the spec as JSON");
  GenerateArguments arguments;
  arguments.output = words.text("output");
  arguments.driver_root = words.text("driver-root");
  arguments.dev_root = words.text("dev-root");
  GenerateOptions& options = arguments.options;
  options.hooks.path = words.text("nvidia-cdi-hook-path", options.hooks.path);
  options.hooks.ldconfig = words.text("ldconfig-path", options.hooks.ldconfig);
  options.vendor = words.text("vendor", options.vendor);
  options.class_name = words.text("class", options.class_name);
  options.library_folders = words.list("library-search-path");
  options.config_folders = words.list("config-search-path");
  options.device_ids = words.list("device-id");
  options.container_library_folder = words.text("container-library-dir", options.container_library_folder);
  options.all_device = !words.flag("no-all-device");
  const auto mode = parse_mode(words.text("mode"));
  if (!mode) return wrong("--mode takes no '" + words.text("mode") + "'");
  options.mode = *mode;
  SLIPWAY_CHECK(take_names(words.list("device-name-strategy"), options));
  SLIPWAY_TRY(json, is_json(words.text("format"), arguments.output));
  arguments.json = json;
  for (const std::string& hook : words.list("disable-hook")) options.hooks.disabled.insert(hook);
  for (const std::string& hook : words.list("enable-hook")) options.hooks.disabled.erase(hook);
  SLIPWAY_CHECK(check_paths(arguments));
  if (arguments.dev_root.empty()) arguments.dev_root = arguments.driver_root;
  SLIPWAY_CHECK(take_features(words.list("feature-flag"), options));
  return arguments;
}

}  // namespace slipway::toolkit
