// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/containerd/containerd.cpp - finds containerd and the file to change, so that the change is
// the smallest.
//
// Where files are imported and joined key by key (from 2.1 on) a file of our own is put beside the others. Before, an
// import that names the CRI plugin replaces its whole table; so the keys go into the last file that has the table.
#include <algorithm>

#include "toolkit/environment.hpp"
#include "toolkit/runtime/containerd/configuration.hpp"
#include "toolkit/runtime/containerd/facts.hpp"
#include "toolkit/runtime/containerd/kinds.hpp"
#include "toolkit/runtime/daemon.hpp"
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/engine_checks.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kContainerdDropIn = "99-nvidia.toml";
constexpr const char* kKubelet = "/var/lib/kubelet/config.yaml";
constexpr const char* kK0sPlugin = "/run/k0s/containerd-cri.toml";

/// The facts collected about containerd, and the inputs.
struct ContainerdSurvey : ContainerdFacts {
  ContainerdSurvey(const RuntimeSettings& wanted, const Host& machine, ContainerdKind what)
      : settings(wanted), host(machine), known(std::move(what)) {
    kind = known.name;
    title = known.title;
    socket = known.socket;
  }
  const RuntimeSettings& settings;
  const Host& host;
  ContainerdKind known;
  std::string drop_in;        ///< requested by the user
  std::string unread_config;  ///< a variable in the unit that names the configuration, with an unknown value
};

void find_daemon(ContainerdSurvey& survey, const EnginePlace& place) {
  auto daemon = find_peer(survey.host, survey.known.socket, "containerd");
  survey.unit = daemon ? daemon->unit : first_unit(survey.host, survey.known.units);
  if (!daemon && survey.known.maker == ConfigMaker::admin) daemon = read_unit(survey.host, survey.unit);
  if (daemon && file_name(daemon->program) != "containerd") daemon.reset();
  survey.program = place.program;
  if (survey.program.empty() && daemon) survey.program = daemon->program;
  for (const std::string& path : survey.known.programs)
    if (survey.program.empty() && survey.host.exists(path)) survey.program = path;
  if (survey.program.empty()) survey.program = find_program(survey.host, "containerd");
  // The place in the settings is in `known` already.
  survey.config = place.config.empty() ? containerd_config(survey.known, survey.host) : survey.known.config;
  const bool is_unknown = survey.config.starts_with('$') ||
                          std::ranges::any_of(survey.config, [](unsigned char byte) { return byte < ' '; });
  if (is_unknown && daemon) survey.unread_config = survey.config + " of " + daemon->place;
  const bool plain = survey.known.maker == ConfigMaker::admin;
  survey.version = survey.program.empty()
                       ? ""
                       : read_engine_version(survey.host, survey.program,
                                             plain ? std::vector<std::string>{"containerd", "containerd.io"}
                                                   : std::vector<std::string>{});
}

/// True when the file, which containerd reads after slipway's file, overrides what that sets: a handler, the default
/// handler, or CDI. Where containerd does not merge tables, any table of the CRI plugin does.
bool overrides(const Configuration& all, const ConfigFile& file, const RuntimeSettings& settings) {
  const Json table = all.table_of(file);
  if (!table.is_object()) return false;
  if (!all.merges_tables()) return true;
  const Json containerd = at_path(table, {"containerd"});
  return std::ranges::any_of(settings.names,
                             [&](const std::string& name) {
                               return !at_path(containerd, {"runtimes", name}).is_null();
                             }) ||
         (settings.set_as_default && !at_path(containerd, {"default_runtime_name"}).is_null()) ||
         (settings.cdi && at_path(table, {"enable_cdi"}) == false);
}

/// Returns the file that is read after `path` and overrides it; empty if no file overrides it.
std::string overriding_file(const Configuration& all, const std::string& path, const RuntimeSettings& settings) {
  bool later = false;
  std::string found;
  for (const ConfigFile& file : all.files()) {
    if (later && overrides(all, file, settings)) found = file.path;
    later = later || file.path == path;
  }
  return found;
}

Error overridden(const ContainerdSurvey& survey, const std::string& path, const std::string& by) {
  return Error{ErrorCode::unsupported,
               "containerd " + survey.version + " reads " + by + " after " + path +
                   ", and takes the settings of its CRI " + "plugin from there",
               "spec.components.runtime.containerd_drop_in",
               "leave containerd_drop_in out, so that the handlers are written to " + by +
                   "; or choose a file that is read later",
               {}};
}

/// Returns the import to add for a file: its folder, unless that has other files that containerd does not read so far.
std::string import_for(const std::string& path, const Configuration& others, const Host& host) {
  const std::string folder = folder_of(path);
  const auto names = host.list(folder).value_or({});
  const bool alone = std::ranges::none_of(names, [&](const std::string& name) {
    const std::string other = folder + "/" + name;
    return other != path && name.ends_with(".toml") && !others.reads(other);
  });
  return alone ? folder + "/*.toml" : path;
}

/// Edits a file that `imports` matches; otherwise the key `imports` of the main file is changed too.
/// @param others  the configuration without that file
Status edit_drop_in(ContainerdSurvey& survey, const std::string& path, const Configuration& others) {
  const ConfigFile& top = others.top();
  if (survey.config_version == 1)
    return Error{ErrorCode::unsupported,
                 "a configuration of version 1 has no imports, so " + path + " would not be read",
                 top.path,
                 "leave the drop-in's path out, or write the configuration in version 2",
                 {}};
  Configuration::Planned planned{{path, Json{{"version", survey.config_version}}}};
  Json imports = at_path(top.value, {"imports"});
  if (!imports.is_array()) imports = Json::array();
  SLIPWAY_TRY(all, Configuration::read(survey.host, top.path, survey.engine(), planned));
  const bool imported = all.reads(path);
  if (!imported) {
    imports.push_back(import_for(path, others, survey.host));
    planned[top.path] = top.value;
    planned[top.path]["imports"] = imports;
    SLIPWAY_TRY(with_import, Configuration::read(survey.host, top.path, survey.engine(), planned));
    all = with_import;
  }
  if (const std::string by = overriding_file(all, path, survey.settings); !by.empty())
    return overridden(survey, path, by);
  survey.edit = {.kind = "file", .path = path};
  if (!others.merges_tables()) survey.edit.table = others.table();
  if (survey.drop_in.empty()) return {};                                 // an existing import matches it
  if (imported && !imports_path(top, survey.engine(), path)) return {};  // another file imports it
  // Repeated even if it exists: it is unknown whether an administrator or slipway wrote it, and a plan is the whole
  // desired state.
  if (top.value.contains("version") || top.value.empty()) survey.edit.top_version = survey.config_version;
  survey.edit.imports = imports;
  survey.edit.top = top.path;
  return {};
}

/// Without an inherited SystemdCgroup, containers get groups that kubelet does not expect.
void compare_with_kubelet(ContainerdSurvey& survey) {
  if (at_path(survey.base, {"options", "SystemdCgroup"}) == true) return;
  const std::string kubelet = survey.host.read(kKubelet).value_or("");
  if (kubelet.find("cgroupDriver: systemd") == std::string::npos) return;
  survey.notes.push_back(std::string(kKubelet) +
                         " says cgroupDriver: systemd, but containerd's default handler has no " +
                         "SystemdCgroup = true, which other handlers inherit: set it in the default handler");
}

/// Reads how devices are given according to the CRI plugin's table.
void look_at_devices(ContainerdSurvey& survey, const Json& table) {
  const Json cdi = at_path(table, {"enable_cdi"});
  survey.cdi_is_on = survey.cdi_is_on || cdi == true;
  survey.cdi_is_off = survey.cdi_is_off || cdi == false;
  survey.default_acts = survey.default_acts || default_acts(survey.settings.names, at_path(table, {"containerd"}));
}

/// Reads the effective tables.
void look_at_tables(ContainerdSurvey& survey, const Configuration& files, int unknown) {
  survey.config_version = files.version() == 0 ? unknown : files.version();
  const Json table = files.table();
  const Json containerd = at_path(table, {"containerd"});
  survey.base = base_handler(survey.settings.names, containerd);
  survey.low_level = containerd_low_level(containerd, find_runtime(survey.host, survey.settings));
  look_at_devices(survey, table);
  if (!files.merges_tables()) survey.runc = runc_type(survey.settings.names, containerd);
}

void note_hidden_settings(ContainerdSurvey& survey, const Configuration& files) {
  if (!survey.engine().known()) return;
  for (const std::string& path : files.hidden())
    survey.notes.push_back(path + "'s settings of the CRI plugin are not used: containerd " + survey.version +
                           " takes all of them from " + files.deciding().path + ", which it reads later");
}

/// Returns slipway's own file if one is put beside others; empty: the keys are merged into a file.
std::string own_file(const ContainerdSurvey& survey, const Configuration& all) {
  if (!survey.drop_in.empty()) return survey.drop_in;
  const std::string folder = import_folder(all.top(), survey.engine(), kContainerdDropIn);
  if (folder.empty() || !all.merges_tables()) return {};
  const std::string path = folder + "/" + kContainerdDropIn;
  const auto planned =
      Configuration::read(survey.host, all.top().path, survey.engine(), {{path, Json{{"version", all.version()}}}});
  return planned && overriding_file(*planned, path, survey.settings).empty() ? path : "";
}

/// Reads a configuration that an administrator maintains.
Status survey_admin_files(ContainerdSurvey& survey) {
  SLIPWAY_TRY(all, Configuration::read(survey.host, survey.config, survey.engine()));
  const std::string drop_in = own_file(survey, all);
  const Configuration others = all.without(drop_in);
  look_at_tables(survey, others, 2);
  note_hidden_settings(survey, others);
  if (const std::string by = others.disabled_in(); !by.empty()) {
    survey.edit.kind = survey.settings.engines.empty() ? "none" : "";
    survey.notes.push_back(by + " switches containerd's CRI plugin off (disabled_plugins), so no kubelet can use it" +
                           (survey.edit.kind.empty() ? "" : ": nothing is written for containerd"));
    if (!survey.edit.kind.empty()) return {};
  }
  if (survey.config.starts_with("/usr/"))
    survey.notes.push_back(survey.config +
                           " is containerd's configuration by its unit. Where /usr is read-only, copy the " +
                           "file to /etc and name it in a drop-in of the unit");
  compare_with_kubelet(survey);
  survey.checkable = true;
  if (!drop_in.empty()) return edit_drop_in(survey, drop_in, others);
  const ConfigFile& deciding = others.deciding();
  survey.edit = {.kind = "merge",
                 .path = deciding.path,
                 .has_version = deciding.value.contains("version") || deciding.value.empty()};
  return {};
}

/// True for the handler that K3s and RKE2 add by themselves once they find NVIDIA's program.
bool adds_itself(const Host& host, const std::string& name) {
  return name == "nvidia" && (host.exists("/usr/local/nvidia/toolkit/nvidia-container-runtime") ||
                              host.exists("/usr/bin/nvidia-container-runtime"));
}

Status edit_template(ContainerdSurvey& survey) {
  const std::string path =
      survey.known.folder + (survey.config_version == 3 ? "/config-v3.toml.tmpl" : "/config.toml.tmpl");
  const std::string text = survey.host.read(path).value_or("");
  if (!text.empty() && !text.starts_with(kOwnHead))
    return Error{ErrorCode::unsupported,
                 path + " is a template of your own: slipway cannot add keys to it, because it is not TOML",
                 path,
                 "add the line {{ template \"base\" . }} and the handlers to it by hand, or update " +
                     survey.known.title + " to a version whose containerd (2.1) reads " + survey.known.folder +
                     "/config-v3.toml.d",
                 {}};
  survey.edit = {.kind = "template", .path = path};
  for (const std::string& name : survey.settings.names)
    if (adds_itself(survey.host, name)) survey.edit.left_out.push_back(name);
  return {};
}

/// K3s and RKE2 write the configuration at each start; newer ones import the files of a folder beside it.
Status look_at_ranchers(ContainerdSurvey& survey) {
  SLIPWAY_TRY(all, Configuration::read(survey.host, survey.config, survey.engine()));
  const bool made = !all.top().value.empty();
  const auto folder_for = [&survey](int version) {
    return survey.known.folder + (version == 3 ? "/config-v3.toml.d" : "/config.toml.d");
  };
  const int version = all.version() == 0 ? 3 : all.version();
  const std::string own = survey.drop_in.empty() ? folder_for(version) + "/" + kContainerdDropIn : survey.drop_in;
  look_at_tables(survey, all.without(own), 3);
  survey.runc.clear();
  const std::string folder = folder_for(survey.config_version);
  const bool joined = !survey.engine().known() || all.merges_tables();
  const bool reads_folder = !made || import_folder(all.top(), survey.engine(), kContainerdDropIn) == folder;
  if (!survey.drop_in.empty() || (joined && reads_folder && survey.config_version == 3)) {
    survey.edit = {.kind = "file", .path = own};
    survey.checkable = reads_folder && made;
    if (!made)
      survey.notes.push_back(survey.known.title + " has not run here yet; slipway assumes that its version reads " +
                             folder);
    return {};
  }
  return edit_template(survey);
}

/// k0s merges the files of its folder with its defaults, unless the administrator has replaced its configuration.
Status look_at_k0s(ContainerdSurvey& survey) {
  const auto text = survey.host.read(survey.config);
  if (text && text->find("k0s_managed=true") == std::string::npos) return survey_admin_files(survey);
  SLIPWAY_TRY(joined, Configuration::read(survey.host, kK0sPlugin, survey.engine()));
  look_at_tables(survey, joined, 3);
  survey.runc.clear();
  survey.edit = {.kind = "file",
                 .path = survey.drop_in.empty() ? survey.known.folder + "/" + kContainerdDropIn : survey.drop_in};
  return {};
}

/// MicroK8s expands variables, which are inside strings, so the file with them is TOML.
Status look_at_microk8s(ContainerdSurvey& survey) {
  SLIPWAY_TRY(all,
              Configuration::read(survey.host, survey.known.folder + "/containerd-template.toml", survey.engine()));
  look_at_tables(survey, all, 2);
  survey.runc.clear();
  survey.edit = {.kind = "merge", .path = all.top().path};
  return {};
}

constexpr std::size_t kShownVariable = 100;

Error unknown_config(const std::string& variable) {
  return Error{ErrorCode::not_found,
               "containerd's unit takes its configuration file from a variable whose value is not known here: " +
                   variable.substr(0, kShownVariable),
               "spec.components.runtime.containerd_config",
               "name the file: containerd_config",
               {}};
}

Status look_at_config(ContainerdSurvey& survey) {
  if (!survey.unread_config.empty()) return unknown_config(survey.unread_config);
  switch (survey.known.maker) {
    case ConfigMaker::rancher:
      return look_at_ranchers(survey);
    case ConfigMaker::k0s:
      return look_at_k0s(survey);
    case ConfigMaker::microk8s:
      return look_at_microk8s(survey);
    case ConfigMaker::admin:
      break;
  }
  return survey_admin_files(survey);
}

/// Settings about containerd apply to a distribution only if that is the only engine.
EnginePlace place_of(const std::string& name, const RuntimeSettings& settings) {
  return name == "containerd" || settings.engines.size() == 1 ? settings.place("containerd") : EnginePlace{};
}

/// Returns the daemon and its configuration.
Json facts_of(ContainerdSurvey& survey) {
  survey.checkable = survey.checkable && !survey.program.empty();
  survey.runtime = find_runtime(survey.host, survey.settings);
  return static_cast<const ContainerdFacts&>(survey);
}

}  // namespace

Json find_containerd(const std::string& name, const RuntimeSettings& settings, const Host& host) {
  const ContainerdKind kind = containerd_kind(name, settings, host);
  const EnginePlace place = place_of(name, settings);
  if (!is_installed(kind, host) && place.program.empty()) return nullptr;
  ContainerdSurvey survey(settings, host, kind);
  find_daemon(survey, place);
  return {{"kind", survey.kind}, {"title", survey.title},   {"version", survey.version}, {"program", survey.program},
          {"unit", survey.unit}, {"socket", survey.socket}, {"config", survey.config}};
}

Result<Json> read_containerd(const std::string& name, const RuntimeSettings& settings, const Host& host) {
  const ContainerdKind kind = containerd_kind(name, settings, host);
  const EnginePlace place = place_of(name, settings);
  if (!is_installed(kind, host) && place.program.empty()) return Json(nullptr);
  ContainerdSurvey survey(settings, host, kind);
  survey.drop_in = place.drop_in;
  find_daemon(survey, place);
  SLIPWAY_CHECK(look_at_config(survey));
  survey.cri_works = cri_works(host, survey.program, survey.socket);
  return facts_of(survey);
}

Result<Json> read_containerd_files(const RuntimeSettings& settings, const Host& host) {
  const EnginePlace place = settings.place("containerd");
  ContainerdSurvey survey(settings, host, containerd_kind("containerd", settings, host));
  survey.config = survey.known.config;
  survey.drop_in = place.drop_in;
  survey.program = place.program;
  survey.unit = first_unit(host, survey.known.units);
  survey.version = survey.program.empty() ? read_package_version(host, {"containerd", "containerd.io"})
                                          : read_engine_version(host, survey.program, {});
  SLIPWAY_CHECK(look_at_config(survey));
  return facts_of(survey);
}

}  // namespace slipway::toolkit
