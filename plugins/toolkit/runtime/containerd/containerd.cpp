// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/containerd/containerd.cpp - finds containerd and the file to change, so that the change is
// the smallest.
//
// Where files are imported and joined key by key (from 2.1 on) a file of our own is put beside the others. Before, an
// import that names the CRI plugin replaces its whole table; so the keys go into the last file that has the table.
#include <algorithm>

#include "toolkit/environment.hpp"
#include "toolkit/runtime/containerd/config.hpp"
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

/// What one look at containerd collects, and what it looks with.
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
  std::string drop_in;  ///< that somebody asked for
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
  look.config = look.known.config;
  const std::string told = daemon ? daemon->option({"--config", "-c"}) : "";
  if (look.known.maker == ConfigMaker::admin && place.config.empty() && told.starts_with('/')) look.config = told;
  const bool plain = look.known.maker == ConfigMaker::admin;
  look.version = look.program.empty()
                     ? ""
                     : read_engine_version(look.host, look.program,
                                           plain ? std::vector<std::string>{"containerd", "containerd.io"}
                                                 : std::vector<std::string>{});
}

/// The version that a configuration is begun with.
int first_version(const Look& look, int unknown) {
  if (!look.engine().known()) return unknown;
  return look.engine() >= kContainerdWithVersion3 ? 3 : 2;
}

Error old_version(const Look& look, const std::string& path) {
  return Error{ErrorCode::invalid,
               "the configuration has no version, and containerd " + look.version + " takes 2 or 3",
               path,
               "`containerd config migrate` writes it in the newest form",
               {}};
}

/// A file that `imports` leads to; else the key `imports` of the main file is changed as well.
Status edit_drop_in(Look& look, const std::string& path, const ConfigFile& top, const ConfigFile& deciding) {
  if (look.config_version == 1)
    return Error{ErrorCode::unsupported,
                 "a configuration of version 1 knows no imports, so " + path + " would not be read",
                 top.path,
                 "leave the drop-in's path out, or write the configuration in version 2",
                 {}};
  look.edit = {.kind = "file", .path = path};
  if (look.engine() < kContainerdMergesImports)
    look.edit.table = at_path(deciding.value, cri_plugin(look.config_version));
  const bool imported = import_folder(top, file_name(path)) == folder_of(path);
  if (imported && look.drop_in.empty()) return {};  // which is how it was chosen
  Json imports = top.value.value("imports", Json::array());
  if (!imported) imports.push_back(folder_of(path) + "/*.toml");
  // Said again when it is there: whether an admin wrote it or we did cannot be told, and a plan is the whole desired
  // state.
  if (top.value.contains("version") || top.value.empty()) look.edit.top_version = look.config_version;
  look.edit.imports = imports;
  look.edit.top = top.path;
  return {};
}

/// Without a handler to inherit SystemdCgroup from, containers get groups that the kubelet does not expect.
void compare_with_kubelet(Look& look) {
  if (at_path(look.base, {"options", "SystemdCgroup"}) == true) return;
  const std::string kubelet = look.host.read(kKubelet).value_or("");
  if (kubelet.find("cgroupDriver: systemd") == std::string::npos) return;
  look.notes.push_back(std::string(kKubelet) + " says cgroupDriver: systemd, and containerd's default handler has no " +
                       "SystemdCgroup = true, which handlers inherit: set it there");
}

/// What the CRI plugin's table says already of how devices are given.
void look_at_devices(Look& look, const Json& table) {
  const Json cdi = at_path(table, {"enable_cdi"});
  look.cdi_is_on = look.cdi_is_on || cdi == true;
  look.cdi_is_off = look.cdi_is_off || cdi == false;
  look.default_acts = look.default_acts || default_acts(look.settings.names, at_path(table, {"containerd"}));
}

/// A configuration that an admin keeps.
Status look_at_admins(Look& look) {
  SLIPWAY_TRY(top, read_config(look.host, look.config));
  SLIPWAY_TRY(imports, read_imports(look.host, top));
  look.config_version = config_version(top.value);
  if (look.config_version == 1 && look.engine() >= kContainerdWithVersion3) return old_version(look, top.path);
  if (look.config_version == 0) look.config_version = first_version(look, 2);
  std::string drop_in = look.drop_in;
  if (const std::string folder = import_folder(top, kContainerdDropIn);
      drop_in.empty() && !folder.empty() && look.engine() >= kContainerdMergesImports)
    drop_in = folder + "/" + kContainerdDropIn;
  const KeyPath plugin = cri_plugin(look.config_version);
  const ConfigFile* deciding = &top;
  for (const ConfigFile& file : imports)
    if (file.path != drop_in && at_path(file.value, plugin).is_object()) deciding = &file;
  look.base = base_handler(look.settings.names, at_path(deciding->value, plugin + KeyPath{"containerd"}));
  if (look.base.empty())
    look.base = base_handler(look.settings.names, at_path(top.value, plugin + KeyPath{"containerd"}));
  look_at_devices(look, at_path(deciding->value, plugin));
  if (look.engine() < kContainerdMergesImports)
    look.runc = runc_type(look.settings.names, at_path(deciding->value, plugin + KeyPath{"containerd"}));
  for (const Json& name : top.value.value("disabled_plugins", Json::array()))
    if (name == "cri" || name == "io.containerd.grpc.v1.cri")
      look.notes.push_back(top.path + " switches the CRI plugin off (disabled_plugins), so no kubelet can use it");
  compare_with_kubelet(look);
  look.checkable = true;
  if (!drop_in.empty()) return edit_drop_in(look, drop_in, top, *deciding);
  look.edit = {.kind = "merge",
               .path = deciding->path,
               .has_version = deciding->value.contains("version") || deciding->value.empty()};
  return {};
}

/// The handler that K3s and RKE2 add by themselves once they find NVIDIA's program.
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
                 path + " is a template of your own, which is no TOML that keys could be added to",
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
  SLIPWAY_TRY(made, read_config(look.host, look.config));
  look.config_version = config_version(made.value);
  if (look.config_version == 0) look.config_version = first_version(look, 3);
  const KeyPath plugin = cri_plugin(look.config_version);
  look.base = base_handler(look.settings.names, at_path(made.value, plugin + KeyPath{"containerd"}));
  look_at_devices(look, at_path(made.value, plugin));
  const std::string folder = look.known.folder + (look.config_version == 3 ? "/config-v3.toml.d" : "/config.toml.d");
  const bool joined = !look.engine().known() || look.engine() >= kContainerdMergesImports;
  const bool reads_folder = made.value.empty() || import_folder(made, kContainerdDropIn) == folder;
  if (!look.drop_in.empty() || (joined && reads_folder && look.config_version == 3)) {
    look.edit = {.kind = "file", .path = look.drop_in.empty() ? folder + "/" + kContainerdDropIn : look.drop_in};
    look.checkable = reads_folder && !made.value.empty();
    if (made.value.empty())
      look.notes.push_back(look.known.title + " has not run here yet; its version is taken to read " + folder);
    return {};
  }
  return edit_template(look);
}

/// k0s joins the files of its folder with its defaults, unless its configuration has become the admin's.
Status look_at_k0s(Look& look) {
  const auto text = look.host.read(look.config);
  if (text && text->find("k0s_managed=true") == std::string::npos) return look_at_admins(look);
  SLIPWAY_TRY(plugin_file, read_config(look.host, kK0sPlugin));
  look.config_version = config_version(plugin_file.value);
  if (look.config_version == 0) look.config_version = first_version(look, 3);
  look.base = base_handler(look.settings.names,
                           at_path(plugin_file.value, cri_plugin(look.config_version) + KeyPath{"containerd"}));
  look_at_devices(look, at_path(plugin_file.value, cri_plugin(look.config_version)));
  look.edit = {.kind = "file",
               .path = look.drop_in.empty() ? look.known.folder + "/" + kContainerdDropIn : look.drop_in};
  return {};
}

/// MicroK8s fills in variables, which stand in strings: the file with them is TOML.
Status look_at_microk8s(Look& look) {
  SLIPWAY_TRY(top, read_config(look.host, look.known.folder + "/containerd-template.toml"));
  look.config_version = config_version(top.value);
  if (look.config_version == 0) look.config_version = first_version(look, 2);
  look.base =
      base_handler(look.settings.names, at_path(top.value, cri_plugin(look.config_version) + KeyPath{"containerd"}));
  look_at_devices(look, at_path(top.value, cri_plugin(look.config_version)));
  look.edit = {.kind = "merge", .path = top.path};
  return {};
}

Status look_at_config(Look& look) {
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

/// What the settings say of containerd is about a distribution's only where that is the only engine.
EnginePlace place_of(const std::string& name, const RuntimeSettings& settings) {
  return name == "containerd" || settings.engines.size() == 1 ? settings.place("containerd") : EnginePlace{};
}

/// The daemon and its configuration.
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
  if (!look.program.empty()) look.version = read_engine_version(host, look.program, {});
  SLIPWAY_CHECK(look_at_config(look));
  return facts_of(look);
}

}  // namespace slipway::toolkit
