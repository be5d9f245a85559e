// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "toolkit/cdi/component/spec_file.hpp"
#include "toolkit/cdi/component/tools.hpp"
#include "toolkit/options.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kTool = "slipway toolkit cdi generate";

Error wrong(const std::string& what) { return usage_error(kTool, what); }

/// What is put together from several options at the end.
struct Pending {
  std::string format;
  std::string mode;
  std::vector<std::string> strategies;
  std::set<std::string> disabled;
  std::set<std::string> enabled;
  std::vector<std::string> features;
  bool no_all_device = false;
};

Options known_options(GenerateArguments& into, Pending& pending) {
  GenerateOptions& options = into.options;
  return {{"--output", text_option(into.output)},
          {"--format", text_option(pending.format)},
          {"--mode", text_option(pending.mode)},
          {"--device-name-strategy", list_option(pending.strategies)},
          {"--driver-root", text_option(into.driver_root)},
          {"--dev-root", text_option(into.dev_root)},
          {"--nvidia-cdi-hook-path", text_option(options.hooks.path)},
          {"--ldconfig-path", text_option(options.hooks.ldconfig)},
          {"--vendor", text_option(options.vendor)},
          {"--class", text_option(options.class_name)},
          {"--library-search-path", list_option(options.library_folders)},
          {"--config-search-path", list_option(options.config_folders)},
          {"--disable-hook", set_option(pending.disabled)},
          {"--enable-hook", set_option(pending.enabled)},
          {"--feature-flag", list_option(pending.features)},
          {"--device-id", list_option(options.device_ids)},
          {"--container-library-dir", text_option(options.container_library_folder)},
          {"--no-all-device", flag_option("--no-all-device", pending.no_all_device, kTool)}};
}

Status take_features(const Pending& pending, GenerateOptions& options) {
  for (const std::string& feature : pending.features) {
    if (feature == "no-additional-gids-for-device-nodes")
      options.additional_gids = false;
    else if (feature == "disable-ipc-discoverer")
      options.sockets = false;
    else if (feature == "enable-explicit-driver-libraries")
      options.explicit_libraries = true;
    else if (feature == "enable-coherent-annotations")
      options.coherent = true;
    else if (feature != "disable-nvsandboxutils" && feature != "disable-nvsandbox-utils")  // never used here
      return wrong("--feature-flag " + feature + " is not known to slipway");
  }
  return {};
}

Status finish(const Pending& pending, GenerateArguments& into) {
  const auto mode = parse_mode(pending.mode);
  if (!mode)
    return wrong("--mode takes auto, nvml, management, gds, mofed, gdrcopy, nvswitch or imex, not '" + pending.mode +
                 "'");
  into.options.mode = *mode;
  if (!pending.strategies.empty()) into.options.names.clear();
  for (const std::string& word : pending.strategies) {
    const auto naming = parse_naming(word);
    if (!naming) return wrong("--device-name-strategy takes index, uuid or type-index, not '" + word + "'");
    into.options.names.push_back(*naming);
  }
  into.options.all_device = !pending.no_all_device;
  SLIPWAY_TRY(json, is_json(pending.format, into.output));
  into.json = json;
  into.options.hooks.disabled.insert(pending.disabled.begin(), pending.disabled.end());
  for (const std::string& hook : pending.enabled) into.options.hooks.disabled.erase(hook);
  std::vector<std::string> paths{into.driver_root, into.dev_root, into.options.container_library_folder,
                                 into.options.hooks.path, into.options.hooks.ldconfig};
  for (const auto* folders : {&into.options.library_folders, &into.options.config_folders})
    paths.insert(paths.end(), folders->begin(), folders->end());
  for (const std::string& path : paths)
    if (!path.empty() && !path.starts_with('/'))
      return wrong("'" + path + "' is no absolute path, and it is about the host's root or a container's");
  if (into.dev_root.empty()) into.dev_root = into.driver_root;
  return take_features(pending, into.options);
}

/// nvidia-ctk's variables, each behind "NVIDIA_CTK_".
constexpr std::pair<const char*, const char*> kVariables[] = {
    {"--output", "CDI_OUTPUT_FILE_PATH"},
    {"--format", "CDI_GENERATE_OUTPUT_FORMAT"},
    {"--mode", "CDI_GENERATE_MODE"},
    {"--device-name-strategy", "CDI_GENERATE_DEVICE_NAME_STRATEGIES"},
    {"--driver-root", "DRIVER_ROOT"},
    {"--dev-root", "DEV_ROOT"},
    {"--nvidia-cdi-hook-path", "CDI_HOOK_PATH"},
    {"--ldconfig-path", "CDI_GENERATE_LDCONFIG_PATH"},
    {"--vendor", "CDI_GENERATE_VENDOR"},
    {"--class", "CDI_GENERATE_CLASS"},
    {"--config-search-path", "CDI_GENERATE_CONFIG_SEARCH_PATHS"},
    {"--library-search-path", "CDI_GENERATE_LIBRARY_SEARCH_PATHS"},
    {"--disable-hook", "CDI_GENERATE_DISABLED_HOOKS"},
    {"--enable-hook", "CDI_GENERATE_ENABLED_HOOKS"},
    {"--feature-flag", "CDI_GENERATE_FEATURE_FLAGS"},
    {"--no-all-device", "CDI_GENERATE_NO_ALL_DEVICE"},
    {"--device-id", "CDI_GENERATE_DEVICE_IDS"},
};

Status take_variables(const Options& known, const std::set<std::string>& given, const Environment& environment) {
  for (const auto& [option, variable] : kVariables) {
    const std::string value = given.contains(option) ? "" : environment(std::string("NVIDIA_CTK_") + variable);
    if (!value.empty()) SLIPWAY_CHECK(known.at(option).take(value));
  }
  return {};
}

}  // namespace

Result<GenerateArguments> parse_generate_arguments(const std::vector<std::string>& words,
                                                   const Environment& environment) {
  GenerateArguments arguments;
  Pending pending;
  const Options known = known_options(arguments, pending);
  if (std::ranges::count(words, "-o") != 0) return wrong("-o is no option here: --format json writes the spec as JSON");
  SLIPWAY_TRY(given, take_options(words, known, kTool));
  SLIPWAY_CHECK(take_variables(known, given, environment));
  SLIPWAY_CHECK(finish(pending, arguments));
  return arguments;
}

std::string generate_usage() {
  return "usage: slipway toolkit cdi generate [options]\n"
         "\n"
         "Writes the CDI spec of this machine's GPUs, by which container engines give them to containers.\n"
         "\n"
         "  --output FILE                 where to write it (default: standard output)\n"
         "  --format yaml|json            its form (default: by the file's name, else yaml)\n"
         "  --mode MODE                   auto, nvml, management, gds, mofed, gdrcopy, nvswitch or imex\n"
         "  --device-name-strategy WAY    index, uuid or type-index; may be repeated (default: index and uuid)\n"
         "  --device-id ID                only these: index, GPU:MIG index, UUID, IMEX channel; may be repeated\n"
         "  --no-all-device               without the device `all`\n"
         "  --driver-root DIR             where the driver is installed (default: /)\n"
         "  --dev-root DIR                where the device nodes are (default: the driver root)\n"
         "  --library-search-path DIR     library folders instead of the usual ones; may be repeated\n"
         "  --config-search-path DIR      folders with the files of graphics instead of the usual ones\n"
         "  --nvidia-cdi-hook-path FILE   the program that hooks start (default: /usr/bin/slipway-cdi-hook)\n"
         "  --disable-hook NAME           leaves a hook out; all: a spec without hooks\n"
         "  --enable-hook NAME            takes a hook in that is left out otherwise (chmod)\n"
         "  --ldconfig-path FILE          the host's ldconfig, for update-ldcache\n"
         "  --vendor NAME, --class NAME   the kind, VENDOR/CLASS (default: the mode's, nvidia.com/gpu)\n"
         "  --container-library-dir DIR   where containers have libraries, for specs without hooks (default: as here)\n"
         "  --feature-flag FLAG           no-additional-gids-for-device-nodes, disable-ipc-discoverer,\n"
         "                                enable-explicit-driver-libraries, enable-coherent-annotations\n"
         "\n"
         "An option that is not given takes the value of nvidia-ctk's variable for it (NVIDIA_CTK_CDI_GENERATE_MODE, "
         "…).\n";
}

}  // namespace slipway::toolkit
