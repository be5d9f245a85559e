// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/text.hpp>

#include "app/subcommand.hpp"
#include "cli/command.hpp"

namespace slipway::cli {
namespace {

/// Returns null when there is no service.
Json service_json(const core::PluginFile& file, const core::Manifest& manifest) {
  if (manifest.service == core::Manifest::ServiceIn::none) return nullptr;
  const auto service = core::service_file(file, manifest);
  if (!service) return Json{{"error", to_json(service.error())}};
  return Json{{service->is_program ? "program" : "library", service->path}};
}

Result<Json> plugin_json(const core::PluginFile& file) {
  Json components = Json::array();
  for (const core::Manifest& manifest : file.components)
    components.push_back({{"component", manifest.component},
                          {"purpose", manifest.purpose},
                          {"after", manifest.after},
                          {"requires", manifest.requires_},
                          {"provides", manifest.provides},
                          {"conflicts", manifest.conflicts},
                          {"outputs", manifest.outputs},
                          {"tools", manifest.has_tools},
                          {"tool_programs", manifest.tool_programs},
                          {"service", service_json(file, manifest)}});
  SLIPWAY_TRY(digest, file.digest.get());
  return Json{{"path", file.path},
              {"version", file.plugin_version},
              {"protocol", std::to_string(file.protocol_major) + "." + std::to_string(file.protocol_minor)},
              {"digest", digest},
              {"components", components}};
}

TableRow line(const std::string& text) { return {{Tone::plain, text}}; }

/// Appends a line for each component, and details of the file below.
Status append_plugin(const core::PluginFile& file, bool long_form, std::vector<TableRow>& rows) {
  for (const core::Manifest& manifest : file.components)
    rows.push_back(
        {{Tone::heading, manifest.component}, {Tone::plain, file.plugin_version}, {Tone::plain, manifest.purpose}});
  if (!long_form) return {};
  for (const core::Manifest& manifest : file.components) {
    if (manifest.service == core::Manifest::ServiceIn::none) continue;
    const auto service = core::service_file(file, manifest);
    rows.push_back(
        line("  service:  " + manifest.component + " in " + (service ? service->path : "… " + service.error().what)));
  }
  SLIPWAY_TRY(digest, file.digest.get());
  rows.push_back(line("  file:     " + file.path));
  rows.push_back(line("  digest:   " + digest));
  rows.push_back(
      line("  protocol: " + std::to_string(file.protocol_major) + "." + std::to_string(file.protocol_minor)));
  return {};
}

}  // namespace

Result<int> list_plugins(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(plugins, core::discover_plugins(core::plugin_folders(true)));
  Json files = Json::array();
  std::vector<TableRow> rows;
  for (const auto& [path, file] : plugins.files) {
    if (options.output == "text") {
      SLIPWAY_CHECK(append_plugin(file, options.verbose, rows));
    } else {
      SLIPWAY_TRY(entry, plugin_json(file));
      files.push_back(std::move(entry));
    }
  }
  Json problems = Json::array();
  for (const Error& problem : plugins.problems) {
    if (options.output == "text") ui.failed({}, problem, to_text(problem));
    problems.push_back(to_json(problem));
  }
  if (options.output == "text")
    print_wrapped(Page().table(rows));
  else
    print(json_text(envelope("Plugins", {{"plugins", files}, {"problems", problems}}), options.output));
  return plugins.problems.empty() ? core::kExitDone : core::kExitError;
}

Result<int> describe_plugin(const Options& options, TerminalUi&) {
  SLIPWAY_TRY(file, core::read_plugin_file(options.arguments.front()));
  if (options.output == "text") {
    std::vector<TableRow> rows;
    SLIPWAY_CHECK(append_plugin(file, true, rows));
    print_wrapped(Page().table(rows));
  } else {
    SLIPWAY_TRY(json, plugin_json(file));
    print(json_text(envelope("Plugin", json), options.output));
  }
  return core::kExitDone;
}

namespace {

/// Asks slipway-author, the helper for plugin developers (plugin-check/main.cpp).
Result<Json> ask_author(const Json& wanted) {
  const app::CommandOutput ran = app::run_own_program("slipway-author", {canonical(wanted)}, {});
  const Json answer = parse_foreign(ran.out);
  if (!answer.is_object())
    return Error{
        ErrorCode::internal,
        "slipway-author gave no answer (" + ran.ended + ")" + (ran.err.empty() ? "" : ": " + ran.err),
        "plugin",
        "install slipway completely, or build the target slipway-author; if that program exists, please report this",
        {}};
  if (answer.contains("error")) return error_from_json(answer["error"]);
  return answer;
}

/// Checks the name: two plugins with the same component cannot be used together.
Status name_is_free(const std::string& name) {
  SLIPWAY_TRY(plugins, core::discover_plugins(core::plugin_folders(true)));
  const auto path = plugins.component_to_path.find(name);
  if (path == plugins.component_to_path.end()) return {};
  return Error{ErrorCode::usage,
               "there is a component '" + name + "' already",
               path->second,
               "take another name: two plugins cannot have components of the same name",
               {}};
}

}  // namespace

Result<int> write_plugin(const Options& options, TerminalUi&) {
  const std::string& name = options.arguments.front();
  SLIPWAY_CHECK(name_is_free(name));
  const std::string folder = options.destination.empty() ? name : options.destination;
  SLIPWAY_TRY(written, ask_author({{"new", {{"name", name}, {"folder", folder}}}}));
  const Json& files = written.at("files");
  if (options.output != "text") {
    print(json_text(envelope("NewPlugin", {{"folder", folder}, {"files", files}}), options.output));
    return core::kExitDone;
  }
  std::string text;
  for (const Json& file : files) text += "  " + folder + "/" + file.get<std::string>() + "\n";
  print("Wrote the plugin " + name + ":\n" + text + "Next: cmake -S " + folder + " -B " + folder +
        "/build && cmake --build " + folder + "/build && slipway plugin check " + folder + "/build/" + name + ".so\n");
  return core::kExitDone;
}

Result<int> check_plugin(const Options& options, TerminalUi&) {
  const std::string& path = options.arguments.front();
  Json trial{{"file", path}, {"spec", options.spec}};
  if (!options.session.sim.empty()) trial["sim"] = options.session.sim;
  if (options.session.root != "/") trial["root"] = options.session.root;
  SLIPWAY_TRY(report, ask_author({{"check", trial}}));
  const bool passed = report.at("passed");
  if (options.output == "text") {
    SLIPWAY_TRY(findings, findings_from_json(report.at("findings")));
    Page page(listed(report.at("components").get<std::vector<std::string>>(), "and") + " on scratch roots:\n");
    page << findings_text({{path, findings}});
    const auto untried = std::ranges::count(findings.list(), Finding::Status::not_exercised, &Finding::status);
    if (untried > 0)
      page << std::to_string(untried) << (untried == 1 ? " part was" : " parts were") << " not exercised. ";
    print_wrapped(page << (passed ? Toned{Tone::good, "Nothing is wrong with the plugin."}
                                  : Toned{Tone::bad, "The plugin is not fit for use yet."})
                       << '\n');
  } else {
    print(json_text(envelope("PluginCheck", report), options.output));
  }
  return passed ? core::kExitDone : core::kExitError;
}

}  // namespace slipway::cli
