// SPDX-License-Identifier: Apache-2.0
#include "app/install/install.hpp"

#include <algorithm>
#include <filesystem>

#include <slipway/text.hpp>

#include "cli/command.hpp"
#include "cli/render/text.hpp"
#include "core/loader/installation.hpp"

namespace slipway::cli {
namespace {

/// Returns the components of --only, else those of the spec, else all.
Result<std::vector<std::string>> chosen_components(const Options& options, const core::Plugins& plugins) {
  std::vector<std::string> components = options.only;
  if (components.empty() && !options.spec.empty()) {
    SLIPWAY_TRY(spec, core::read_host_spec(options.spec, plugins));
    for (const auto& [name, section] : spec.components) components.push_back(name);
  }
  for (const std::string& name : components) SLIPWAY_CHECK(named_component(plugins, name));
  return components;
}

std::string result_text(const std::string& root, const app::InstalledFiles& files, const app::Installation& done,
                        bool dry_run) {
  const std::string place = (root == "/" ? "" : root) + done.folder;
  std::string text;
  if (dry_run)
    for (const app::FileContents* each : {&files.programs, &files.data})
      for (const auto& [path, content] : *each) text += "  " + path + "  " + std::to_string(content.size()) + "\n";
  if (!files.libraries.empty()) text += "Libraries that the root lacks: " + listed(files.libraries, "and") + ".\n";
  const std::string size =
      std::to_string(files.programs.size() + files.data.size()) + " files, " + mebibytes(files.bytes);
  if (!done.changed) return text + "slipway is installed in " + place + " already: " + size + ".\n";
  return text + (dry_run ? "Would install" : "Installed") + " slipway in " + place + ": " + size + ".\n";
}

}  // namespace

Result<int> run_install(const Options& options, TerminalUi&) {
  if (std::ranges::count(options.given, "root") == 0)
    return Error{ErrorCode::usage,
                 "`slipway install` needs a target",
                 "command line",
                 "name the root filesystem with --root; --root / is this machine",
                 {}};
  SLIPWAY_TRY(plugins, core::discover_plugins(core::plugin_folders(true)));
  SLIPWAY_TRY(components, chosen_components(options, plugins));
  std::error_code none;
  const std::string folder = std::filesystem::canonical(options.session.root, none).string();
  SLIPWAY_TRY(root, RootDir::open(none ? options.session.root : folder));
  SLIPWAY_TRY(lock, core::RootLock::take(root.folder(), root.folder() == "/"));
  SLIPWAY_TRY(files, app::files_to_install(root, plugins, components));
  SLIPWAY_TRY(done, app::install(root, files, options.dry_run));
  if (options.output == "text") {
    print(result_text(root.folder(), files, done, options.dry_run));
  } else {
    Json paths = Json::array();
    for (const app::FileContents* each : {&files.programs, &files.data})
      for (const auto& [path, content] : *each) paths.push_back({{"path", path}, {"bytes", content.size()}});
    print(json_text(envelope("Installation", {{"bytes", files.bytes},
                                              {"changed", done.changed},
                                              {"dry_run", options.dry_run},
                                              {"files", paths},
                                              {"folder", done.folder},
                                              {"libraries", files.libraries}}),
                    options.output));
  }
  (void)lock;
  return core::kExitDone;
}

}  // namespace slipway::cli
