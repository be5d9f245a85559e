// SPDX-License-Identifier: Apache-2.0
#include "toolkit/programs/configure/arguments.hpp"

#include <filesystem>

#include "toolkit/options.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kNvidiaRuntime = "nvidia-container-runtime";

Error wrong(const std::string& what) { return usage_error(kConfigureTool, what); }

/// The values as they stand there.
struct Given {
  std::string engine = "docker";
  std::string root = "/";
  std::string config;
  std::string drop_in;
  std::string program;
  std::string mode;
  std::string source = "file";
  std::string name = "nvidia";
  std::string path;
  std::string hook;  ///< of the mode that is refused
  bool as_default = false;
  bool cdi = false;
  bool dry_run = false;
};

Options known_options(Given& given) {
  const auto flag = [](const std::string& name, bool& into) { return flag_option(name, into, kConfigureTool); };
  return {{"--runtime", text_option(given.engine)},
          {"--root", text_option(given.root)},
          {"--config", text_option(given.config)},
          {"--drop-in-config", text_option(given.drop_in)},
          {"--executable-path", text_option(given.program)},
          {"--config-mode", text_option(given.mode)},
          {"--config-source", text_option(given.source)},
          {"--oci-hook-path", text_option(given.hook)},
          {"--nvidia-runtime-name", text_option(given.name)},
          {"--nvidia-runtime-path", text_option(given.path)},
          {"--runtime-path", text_option(given.path)},
          {"--nvidia-runtime-hook-path", text_option(given.hook)},
          {"--nvidia-set-as-default", flag("--nvidia-set-as-default", given.as_default)},
          {"--set-as-default", flag("--set-as-default", given.as_default)},
          {"--cdi.enabled", flag("--cdi.enabled", given.cdi)},
          {"--cdi.enable", flag("--cdi.enable", given.cdi)},
          {"--enable-cdi", flag("--enable-cdi", given.cdi)},
          {"--dry-run", flag("--dry-run", given.dry_run)}};
}

Status check_words(const Given& given) {
  if (given.engine != "containerd" && given.engine != "crio" && given.engine != "docker")
    return wrong("--runtime takes containerd, crio or docker, not '" + given.engine + "'");
  if (given.mode == "oci-hook" || given.mode == "hook")
    return wrong("--config-mode " + given.mode + " is not supported: engines that run OCI hooks take CDI devices");
  if (!given.mode.empty() && given.mode != "config-file" && given.mode != "config")
    return wrong("--config-mode takes config-file, not '" + given.mode + "'");
  if (given.source != "file" && given.source != "command")
    return wrong("--config-source takes file or command, not '" + given.source + "'");
  if (given.source == "command" && given.root != "/")
    return wrong("--config-source command asks an engine of this machine, so it goes with no --root");
  if (given.name.empty()) return wrong("--nvidia-runtime-name is empty");
  return {};
}

Status check_paths(const Given& given) {
  if (!given.root.starts_with('/')) return wrong("--root takes an absolute path, not '" + given.root + "'");
  if (!given.drop_in.empty() && given.engine == "docker") return wrong("Docker knows no files for --drop-in-config");
  if (!given.drop_in.empty() && !given.drop_in.starts_with('/'))
    return wrong("--drop-in-config takes an absolute path, not '" + given.drop_in + "'");
  if (!given.config.starts_with('/') && !given.config.empty() && given.root != "/")
    return wrong("--config takes an absolute path below --root, not '" + given.config + "'");
  if (!given.path.empty() && !given.path.starts_with('/') && given.engine != "docker")
    return wrong("--nvidia-runtime-path takes an absolute path, not '" + given.path + "'");
  return {};
}

/// What nvidia-ctk warns of as well, and goes on.
std::vector<std::string> notes_on(const Given& given) {
  std::vector<std::string> notes;
  if (given.engine == "crio" && given.cdi)
    notes.emplace_back("CRI-O has CDI always on, so --cdi.enabled changes nothing");
  if (given.engine == "docker" && !given.program.empty())
    notes.emplace_back("Docker is not asked, so --executable-path changes nothing");
  if (given.engine == "docker" && given.source == "command")
    notes.emplace_back("Docker cannot print its configuration; its file is read");
  if (!given.hook.empty()) notes.emplace_back("no OCI hook is written, so its path changes nothing");
  return notes;
}

}  // namespace

Result<ConfigureArguments> parse_configure_arguments(const std::vector<std::string>& words) {
  Given given;
  SLIPWAY_CHECK(take_options(words, known_options(given), kConfigureTool));
  if (given.path == kNvidiaRuntime && given.engine != "docker") given.path = std::string("/usr/bin/") + kNvidiaRuntime;
  SLIPWAY_CHECK(check_words(given));
  SLIPWAY_CHECK(check_paths(given));
  ConfigureArguments arguments{.engine = given.engine, .root = given.root, .settings = {}, .notes = notes_on(given)};
  arguments.ask_engine = given.source == "command" && given.engine != "docker";
  arguments.dry_run = given.dry_run;
  RuntimeSettings& settings = arguments.settings;
  settings.engines = {given.engine};
  settings.names = {given.name};
  settings.set_as_default = given.as_default;
  settings.runtime_path = given.path.empty() ? "auto" : given.path;
  settings.cdi = given.cdi;
  EnginePlace& place = settings.places[given.engine];
  place.config = given.config.empty() ? "" : std::filesystem::absolute(given.config).lexically_normal().string();
  place.drop_in = given.drop_in;
  if (given.engine != "docker") place.program = given.program;
  return arguments;
}

std::string configure_usage() {
  return "usage: slipway toolkit runtime configure [options]\n"
         "\n"
         "Adds a runtime for GPU containers to the configuration of a container engine, by changing nothing else in "
         "it.\n"
         "The component runtime (`slipway apply`) does the same with a check by the engine, a restart and a way back.\n"
         "\n"
         "  --runtime ENGINE              containerd, crio or docker (default: docker)\n"
         "  --config FILE                 the engine's configuration (default: its usual place)\n"
         "  --drop-in-config FILE         the file that is written instead, and imported; not for docker\n"
         "  --nvidia-runtime-name NAME    the runtime class (default: nvidia)\n"
         "  --nvidia-runtime-path FILE    what it starts (default: slipway-runtime or nvidia-container-runtime, the "
         "one\n"
         "                                that is installed)\n"
         "  --nvidia-set-as-default       makes it the default of containers that ask for none\n"
         "  --cdi.enabled                 switches CDI on\n"
         "  --executable-path FILE        the engine's program, which is asked for its version\n"
         "  --config-source file|command  where the options that are inherited come from: the files, or what the "
         "engine\n"
         "                                prints (default: file)\n"
         "  --config-mode config-file     the only one\n"
         "  --root DIR                    the folder that all paths are in (default: /)\n"
         "  --dry-run                     prints the files as they would be, and writes nothing\n"
         "\n"
         "Exit status: 0 done, or nothing to do; 1 an error, and nothing is changed; 64 a wrong option.\n";
}

}  // namespace slipway::toolkit
