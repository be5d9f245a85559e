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
struct Look : ContainerdFacts {
  Look(const RuntimeSettings& wanted, const Host& machine, ContainerdKind what)
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

void find_daemon(Look& look, const EnginePlace& place) {
  auto daemon = find_peer(look.host, look.known.socket, "containerd");
  look.unit = daemon ? daemon->unit : first_unit(look.host, look.known.units);
  if (!daemon && look.known.maker == ConfigMaker::admin) daemon = read_unit(look.host, look.unit);
  if (daemon && file_name(daemon->program) != "containerd") daemon.reset();
  look.program = place.program;
  if (look.program.empty() && daemon) look.program = daemon->program;
  for (const std::string& path : look.known.programs)
    if (look.program.empty() && look.host.exists(path)) look.program = path;
  if (look.program.empty()) look.program = find_program(look.host, "containerd");
  // The place in the settings is in `known` already.
  look.config = place.config.empty() ? containerd_config(look.known, look.host) : look.known.config;
  const bool is_unknown =
      look.config.starts_with('$') || std::ranges::any_of(look.config, [](unsigned char byte) { return byte < ' '; });
  if (is_unknown && daemon) look.unread_config = look.config + " of " + daemon->place;
  const bool plain = look.known.maker == ConfigMaker::admin;
  look.version = look.program.empty()
                     ? ""
                     : read_engine_version(look.host, look.program,
                                           plain ? std::vector<std::string>{"containerd", "containerd.io"}
                                                 : std::vector<std::string>{});
}

/// True when a file that containerd reads after slipway's sets one of `names` or the default handler.
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

/// Returns the file that is read after `path` and overrides it; empty: there is none.
std::string overriding_file(const Configuration& all, const std::string& path, const RuntimeSettings& settings) {
  bool later = false;
  std::string found;
  for (const ConfigFile& file : all.files()) {
    if (later && overrides(all, file, settings)) found = file.path;
    later = later || file.path == path;
  }
  return found;
}

Error overridden(const Look& look, const std::string& path, const std::string& by) {
  return Error{ErrorCode::unsupported,
               "containerd " + look.version + " reads " + by + " after " + path +
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
Status edit_drop_in(Look& look, const std::string& path, const Configuration& others) {
  const ConfigFile& top = others.top();
  if (look.config_version == 1)
    return Error{ErrorCode::unsupported,
                 "a configuration of version 1 knows no imports, so " + path + " would not be read",
                 top.path,
                 "leave the drop-in's path out, or write the configuration in version 2",
                 {}};
  Configuration::Planned planned{{path, Json{{"version", look.config_version}}}};
  Json imports = at_path(top.value, {"imports"});
  if (!imports.is_array()) imports = Json::array();
  SLIPWAY_TRY(all, Configuration::read(look.host, top.path, look.engine(), planned));
  const bool imported = all.reads(path);
  if (!imported) {
    imports.push_back(import_for(path, others, look.host));
    planned[top.path] = top.value;
    planned[top.path]["imports"] = imports;
    SLIPWAY_TRY(with_import, Configuration::read(look.host, top.path, look.engine(), planned));
    all = with_import;
  }
  if (const std::string by = overriding_file(all, path, look.settings); !by.empty()) return overridden(look, path, by);
  look.edit = {.kind = "file", .path = path};
  if (!others.merges_tables()) look.edit.table = others.table();
  if (look.drop_in.empty()) return {};                                 // an existing import matches it
  if (imported && !imports_path(top, look.engine(), path)) return {};  // another file imports it
  // Repeated even if it exists: it is unknown whether an administrator or slipway wrote it, and a plan is the whole
  // desired state.
  if (top.value.contains("version") || top.value.empty()) look.edit.top_version = look.config_version;
  look.edit.imports = imports;
  look.edit.top = top.path;
  return {};
}

/// Without an inherited SystemdCgroup, containers get groups that kubelet does not expect.
void compare_with_kubelet(Look& look) {
  if (at_path(look.base, {"options", "SystemdCgroup"}) == true) return;
  const std::string kubelet = look.host.read(kKubelet).value_or("");
  if (kubelet.find("cgroupDriver: systemd") == std::string::npos) return;
  look.notes.push_back(std::string(kKubelet) + " says cgroupDriver: systemd, and containerd's default handler has no " +
                       "SystemdCgroup = true, which handlers inherit: set it there");
}

/// Reads how devices are given according to the CRI plugin's table.
void look_at_devices(Look& look, const Json& table) {
  const Json cdi = at_path(table, {"enable_cdi"});
  look.cdi_is_on = look.cdi_is_on || cdi == true;
  look.cdi_is_off = look.cdi_is_off || cdi == false;
  look.default_acts = look.default_acts || default_acts(look.settings.names, at_path(table, {"containerd"}));
}

/// Reads the effective tables.
void look_at_tables(Look& look, const Configuration& files, int unknown) {
  look.config_version = files.version() == 0 ? unknown : files.version();
  const Json table = files.table();
  const Json containerd = at_path(table, {"containerd"});
  look.base = base_handler(look.settings.names, containerd);
  look.low_level = containerd_low_level(containerd, find_runtime(look.host, look.settings));
  look_at_devices(look, table);
  if (!files.merges_tables()) look.runc = runc_type(look.settings.names, containerd);
}

void tell_what_does_not_count(Look& look, const Configuration& files) {
  if (!look.engine().known()) return;
  for (const std::string& path : files.hidden())
    look.notes.push_back(path + "'s settings of the CRI plugin do not count: containerd " + look.version +
                         " takes all of them from " + files.deciding().path + ", which it reads later");
}

/// Returns slipway's own file if one is put beside others; empty: the keys are merged into a file.
std::string own_file(const Look& look, const Configuration& all) {
  if (!look.drop_in.empty()) return look.drop_in;
  const std::string folder = import_folder(all.top(), look.engine(), kContainerdDropIn);
  if (folder.empty() || !all.merges_tables()) return {};
  const std::string path = folder + "/" + kContainerdDropIn;
  const auto planned =
      Configuration::read(look.host, all.top().path, look.engine(), {{path, Json{{"version", all.version()}}}});
  return planned && overriding_file(*planned, path, look.settings).empty() ? path : "";
}

/// Reads a configuration that an administrator maintains.
Status look_at_admins(Look& look) {
  SLIPWAY_TRY(all, Configuration::read(look.host, look.config, look.engine()));
  const std::string drop_in = own_file(look, all);
  const Configuration others = all.without(drop_in);
  look_at_tables(look, others, 2);
  tell_what_does_not_count(look, others);
  if (const std::string by = others.disabled_in(); !by.empty()) {
    look.edit.kind = look.settings.engines.empty() ? "none" : "";
    look.notes.push_back(by + " switches containerd's CRI plugin off (disabled_plugins), so no kubelet can use it" +
                         (look.edit.kind.empty() ? "" : ": nothing is written for containerd"));
    if (!look.edit.kind.empty()) return {};
  }
  if (look.config.starts_with("/usr/"))
    look.notes.push_back(look.config +
                         " is containerd's configuration by its unit. Where /usr is read-only, copy the " +
                         "file to /etc and name it in a drop-in of the unit");
  compare_with_kubelet(look);
  look.checkable = true;
  if (!drop_in.empty()) return edit_drop_in(look, drop_in, others);
  const ConfigFile& deciding = others.deciding();
  look.edit = {.kind = "merge",
               .path = deciding.path,
               .has_version = deciding.value.contains("version") || deciding.value.empty()};
  return {};
}

/// True for the handler that K3s and RKE2 add by themselves once they find NVIDIA's program.
bool adds_itself(const Host& host, const std::string& name) {
  return name == "nvidia" && (host.exists("/usr/local/nvidia/toolkit/nvidia-container-runtime") ||
                              host.exists("/usr/bin/nvidia-container-runtime"));
}

Status edit_template(Look& look) {
  const std::string path =
      look.known.folder + (look.config_version == 3 ? "/config-v3.toml.tmpl" : "/config.toml.tmpl");
  const std::string text = look.host.read(path).value_or("");
  if (!text.empty() && !text.starts_with(kOwnHead))
    return Error{ErrorCode::unsupported,
                 path + " is a template of your own, which is not TOML that keys could be added to",
                 path,
                 "give it the line {{ template \"base\" . }} and the handlers by hand, or update " + look.known.title +
                     " to one whose containerd (2.1) reads " + look.known.folder + "/config-v3.toml.d",
                 {}};
  look.edit = {.kind = "template", .path = path};
  for (const std::string& name : look.settings.names)
    if (adds_itself(look.host, name)) look.edit.left_out.push_back(name);
  return {};
}

/// K3s and RKE2 write the configuration at each start; newer ones import the files of a folder beside it.
Status look_at_ranchers(Look& look) {
  SLIPWAY_TRY(all, Configuration::read(look.host, look.config, look.engine()));
  const bool made = !all.top().value.empty();
  const auto folder_for = [&look](int version) {
    return look.known.folder + (version == 3 ? "/config-v3.toml.d" : "/config.toml.d");
  };
  const int version = all.version() == 0 ? 3 : all.version();
  const std::string own = look.drop_in.empty() ? folder_for(version) + "/" + kContainerdDropIn : look.drop_in;
  look_at_tables(look, all.without(own), 3);
  look.runc.clear();
  const std::string folder = folder_for(look.config_version);
  const bool joined = !look.engine().known() || all.merges_tables();
  const bool reads_folder = !made || import_folder(all.top(), look.engine(), kContainerdDropIn) == folder;
  if (!look.drop_in.empty() || (joined && reads_folder && look.config_version == 3)) {
    look.edit = {.kind = "file", .path = own};
    look.checkable = reads_folder && made;
    if (!made) look.notes.push_back(look.known.title + " has not run here yet; its version is taken to read " + folder);
    return {};
  }
  return edit_template(look);
}

/// k0s merges the files of its folder with its defaults, unless the administrator has replaced its configuration.
Status look_at_k0s(Look& look) {
  const auto text = look.host.read(look.config);
  if (text && text->find("k0s_managed=true") == std::string::npos) return look_at_admins(look);
  SLIPWAY_TRY(joined, Configuration::read(look.host, kK0sPlugin, look.engine()));
  look_at_tables(look, joined, 3);
  look.runc.clear();
  look.edit = {.kind = "file",
               .path = look.drop_in.empty() ? look.known.folder + "/" + kContainerdDropIn : look.drop_in};
  return {};
}

/// MicroK8s expands variables, which are inside strings, so the file with them is TOML.
Status look_at_microk8s(Look& look) {
  SLIPWAY_TRY(all, Configuration::read(look.host, look.known.folder + "/containerd-template.toml", look.engine()));
  look_at_tables(look, all, 2);
  look.runc.clear();
  look.edit = {.kind = "merge", .path = all.top().path};
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

Status look_at_config(Look& look) {
  if (!look.unread_config.empty()) return unknown_config(look.unread_config);
  switch (look.known.maker) {
    case ConfigMaker::rancher:
      return look_at_ranchers(look);
    case ConfigMaker::k0s:
      return look_at_k0s(look);
    case ConfigMaker::microk8s:
      return look_at_microk8s(look);
    case ConfigMaker::admin:
      break;
  }
  return look_at_admins(look);
}

/// Settings about containerd apply to a distribution only if that is the only engine.
EnginePlace place_of(const std::string& name, const RuntimeSettings& settings) {
  return name == "containerd" || settings.engines.size() == 1 ? settings.place("containerd") : EnginePlace{};
}

/// Returns the daemon and its configuration.
Json facts_of(Look& look) {
  look.checkable = look.checkable && !look.program.empty();
  look.runtime = find_runtime(look.host, look.settings);
  return static_cast<const ContainerdFacts&>(look);
}

}  // namespace

Json find_containerd(const std::string& name, const RuntimeSettings& settings, const Host& host) {
  const ContainerdKind kind = containerd_kind(name, settings, host);
  const EnginePlace place = place_of(name, settings);
  if (!is_installed(kind, host) && place.program.empty()) return nullptr;
  Look look(settings, host, kind);
  find_daemon(look, place);
  return {{"kind", look.kind}, {"title", look.title},   {"version", look.version}, {"program", look.program},
          {"unit", look.unit}, {"socket", look.socket}, {"config", look.config}};
}

Result<Json> read_containerd(const std::string& name, const RuntimeSettings& settings, const Host& host) {
  const ContainerdKind kind = containerd_kind(name, settings, host);
  const EnginePlace place = place_of(name, settings);
  if (!is_installed(kind, host) && place.program.empty()) return Json(nullptr);
  Look look(settings, host, kind);
  look.drop_in = place.drop_in;
  find_daemon(look, place);
  SLIPWAY_CHECK(look_at_config(look));
  look.cri_works = cri_works(host, look.program, look.socket);
  return facts_of(look);
}

Result<Json> read_containerd_files(const RuntimeSettings& settings, const Host& host) {
  const EnginePlace place = settings.place("containerd");
  Look look(settings, host, containerd_kind("containerd", settings, host));
  look.config = look.known.config;
  look.drop_in = place.drop_in;
  look.program = place.program;
  look.unit = first_unit(host, look.known.units);
  look.version = look.program.empty() ? read_package_version(host, {"containerd", "containerd.io"})
                                      : read_engine_version(host, look.program, {});
  SLIPWAY_CHECK(look_at_config(look));
  return facts_of(look);
}

}  // namespace slipway::toolkit
