// SPDX-License-Identifier: Apache-2.0
#include "toolkit/programs/configure/arguments.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace slipway::toolkit {
namespace {

constexpr const char* kNvidiaRuntime = "nvidia-container-runtime";
constexpr const char* kName = "nvidia";

Error wrong(const std::string& what) { return configure_line().wrong(what); }

Status check_words(const CommandWords& words) {
  const std::string mode = words.text("config-mode");
  if (mode == "oci-hook" || mode == "hook")
    return wrong("--config-mode " + mode + " is not supported: engines that run OCI hooks take CDI devices");
  if (!mode.empty() && mode != "config-file" && mode != "config")
    return wrong("--config-mode takes config-file, not '" + mode + "'");
  if (words.text("config-source") == "command" && words.text("root", "/") != "/")
    return wrong("--config-source command asks an engine of this machine, so it cannot be combined with --root");
  const std::string name = words.text("nvidia-runtime-name", kName);
  if (name.empty()) return wrong("--nvidia-runtime-name is empty");
  if (!std::ranges::all_of(name,
                           [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; }))
    return wrong("--nvidia-runtime-name '" + name + "' is not a name of a runtime: letters, digits, '-', '_' and '.'");
  return {};
}

Status check_paths(const CommandWords& words, const std::string& engine) {
  const std::string root = words.text("root", "/");
  const std::string drop_in = words.text("drop-in-config");
  const std::string config = words.text("config");
  const std::string path = words.text("nvidia-runtime-path");
  if (!root.starts_with('/')) return wrong("--root takes an absolute path, not '" + root + "'");
  if (!drop_in.empty() && engine == "docker") return wrong("Docker does not support --drop-in-config");
  if (!drop_in.empty() && !drop_in.starts_with('/'))
    return wrong("--drop-in-config takes an absolute path, not '" + drop_in + "'");
  if (engine == "containerd" && !drop_in.empty() && !drop_in.ends_with(".toml"))
    return wrong("containerd would not read '" + drop_in + "': --drop-in-config takes a file *.toml");
  if (!config.starts_with('/') && !config.empty() && root != "/")
    return wrong("--config takes an absolute path below --root, not '" + config + "'");
  if (!path.empty() && !path.starts_with('/') && path != kNvidiaRuntime && engine != "docker")
    return wrong("--nvidia-runtime-path takes an absolute path, not '" + path + "'");
  return {};
}

/// Cases in which nvidia-ctk also warns and continues.
std::vector<std::string> notes_on(const CommandWords& words, const std::string& engine) {
  std::vector<std::string> notes;
  if (engine == "crio" && words.flag("cdi.enabled"))
    notes.emplace_back("CRI-O has CDI always on, so --cdi.enabled changes nothing");
  if (engine == "docker" && !words.text("executable-path").empty())
    notes.emplace_back("Docker is not asked, so --executable-path changes nothing");
  if (engine == "docker" && words.text("config-source") == "command")
    notes.emplace_back("Docker cannot print its configuration; its file is read");
  if (!words.text("oci-hook-path").empty()) notes.emplace_back("no OCI hook is written, so its path changes nothing");
  return notes;
}

}  // namespace

CommandTable configure_line() {
  return {.call = "slipway runtime configure",
          .usage = "[options]",
          .about =
              "Adds a runtime for GPU containers to the configuration of a container engine, and changes nothing else "
              "in it. The component runtime (`slipway apply`) does the same, and also has the engine check the result, "
              "restarts the engine, and can undo the change.",
          .notes = "Exit status: 0 done, or nothing to do; 1 an error, and nothing is changed; 64 a wrong option.",
          .options = {{"runtime", "containerd|crio|docker", "the engine (default: docker)"},
                      {"config", "FILE", "the engine's configuration (default: its usual place)"},
                      {"drop-in-config", "FILE", "the file that is written instead, and imported; not for docker"},
                      {"nvidia-runtime-name", "NAME", "the runtime class (default: nvidia)"},
                      {.name = "nvidia-runtime-path",
                       .value = "FILE",
                       .help = "what it starts (default: slipway-runtime or nvidia-container-runtime, the one that is "
                               "installed)",
                       .aliases = {"runtime-path"}},
                      {.name = "nvidia-set-as-default",
                       .help = "makes it the default of containers that ask for none",
                       .aliases = {"set-as-default"}},
                      {.name = "cdi.enabled", .help = "switches CDI on", .aliases = {"cdi.enable", "enable-cdi"}},
                      {"executable-path", "FILE", "the engine's program, for its version"},
                      {"config-source", "file|command",
                       "where the options that are inherited come from: the files, or what the engine prints (default: "
                       "file)"},
                      {"config-mode", "MODE", "config-file is the only one"},
                      {.name = "oci-hook-path", .value = "FILE", .aliases = {"nvidia-runtime-hook-path"}},
                      {"root", "DIR", "the folder that all paths are in (default: /)"},
                      {"dry-run", "", "prints the files as they would be, and writes nothing"}},
          .examples = {"slipway runtime configure --runtime containerd --cdi.enabled",
                       "slipway runtime configure --runtime docker --dry-run"},
          .last_counts = true};
}

Result<ConfigureArguments> configure_arguments(const CommandWords& words) {
  const std::string engine = words.text("runtime", "docker");
  SLIPWAY_CHECK(check_words(words));
  SLIPWAY_CHECK(check_paths(words, engine));
  ConfigureArguments arguments{
      .engine = engine, .root = words.text("root", "/"), .settings = {}, .notes = notes_on(words, engine)};
  arguments.ask_engine = words.text("config-source") == "command" && engine != "docker";
  arguments.dry_run = words.flag("dry-run");
  RuntimeSettings& settings = arguments.settings;
  settings.engines = {engine};
  settings.names = {words.text("nvidia-runtime-name", kName)};
  settings.set_as_default = words.flag("nvidia-set-as-default");
  settings.cdi = words.flag("cdi.enabled");
  const std::string path = words.text("nvidia-runtime-path");
  settings.runtime_path = path.empty() ? "auto" : path;
  if (path == kNvidiaRuntime && engine != "docker") settings.runtime_path = std::string("/usr/bin/") + kNvidiaRuntime;
  EnginePlace& place = settings.places[engine];
  const std::string config = words.text("config");
  place.config = config.empty() ? "" : std::filesystem::absolute(config).lexically_normal().string();
  place.drop_in = words.text("drop-in-config");
  if (engine != "docker") place.program = words.text("executable-path");
  return arguments;
}

}  // namespace slipway::toolkit
