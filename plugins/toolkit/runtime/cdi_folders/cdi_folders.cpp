// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/cdi_folders/cdi_folders.hpp"

#include <algorithm>

#include <slipway/text.hpp>

#include "toolkit/runtime/containerd/configuration.hpp"
#include "toolkit/runtime/containerd/kinds.hpp"
#include "toolkit/runtime/docker/daemon_json.hpp"
#include "toolkit/runtime/engine.hpp"

namespace slipway::toolkit {
namespace {

using Folders = std::vector<std::string>;

constexpr EngineVersion kPodmanWithoutRunCdi{5, 5};  // podman#26569; 5.6 reads /var/run/cdi again

std::string plain_folder(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (folder.starts_with("/var/run/")) folder.erase(0, std::string_view("/var").size());
  return folder;
}

Folders texts_in(const Json& list) {
  Folders texts;
  if (list.is_array())
    for (const Json& one : list)
      if (one.is_string()) texts.push_back(one);
  return texts;
}

void set_folders(EngineFolders& engine, const Json& list, const std::string& place) {
  if (!list.is_array()) return;
  engine.folders = texts_in(list);
  engine.place = place;
}

EngineFolders with_defaults(const std::string& engine) { return {engine, "", {"/etc/cdi", "/var/run/cdi"}}; }

/// True for an engine version without CDI support. Uses package versions, so that no engine is started; an unknown
/// version counts as new enough.
bool is_older(const Host& host, const std::vector<std::string>& packages, EngineVersion first_with_cdi) {
  const EngineVersion version = parse_engine_version(read_package_version(host, packages));
  return version.known() && version < first_with_cdi;
}

void add_containerds(const Host& host, std::vector<EngineFolders>& all) {
  const RuntimeSettings settings;
  for (const ContainerdKind& known : containerd_kinds()) {
    const ContainerdKind kind = containerd_kind(known.name, settings, host);
    if (!is_installed(kind, host)) continue;
    if (kind.name == "containerd" && is_older(host, {"containerd", "containerd.io"}, kContainerdWithCdi)) continue;
    const auto files = Configuration::read(host, containerd_config(kind, host), {});
    if (!files) continue;
    EngineFolders engine = with_defaults(kind.title);
    for (const ConfigFile& file : files->files())
      for (const int version : {2, 3})
        set_folders(engine, at_path(file.value, cri_plugin(version) + KeyPath{"cdi_spec_dirs"}), file.path);
    if (files->disabled_in().empty()) all.push_back(std::move(engine));
  }
}

void add_docker(const Host& host, std::vector<EngineFolders>& all) {
  if (find_program(host, "dockerd").empty() || is_older(host, {"docker.io", "docker-ce"}, kDockerWithCdi)) return;
  const auto daemon = read_unit(host, "docker.service");
  const std::string told = daemon ? daemon->option({"--config-file"}) : "";
  const std::string path = told.empty() ? "/etc/docker/daemon.json" : told;
  const auto file = read_daemon_json(host, path);
  if (!file) return;
  EngineFolders engine = with_defaults("Docker");
  set_folders(engine, at_path(*file, {"cdi-spec-dirs"}), path);
  const Json flags = daemon ? docker_flags(*daemon) : Json::object();
  set_folders(engine, at_path(flags, {"cdi-spec-dirs"}), text_of(flags, "place"));
  all.push_back(std::move(engine));
}

void add_crio(const Host& host, std::vector<EngineFolders>& all) {
  RuntimeSettings settings;
  const Json found = find_crio(settings, host);
  if (found.is_null() || is_older(host, {"cri-o"}, kCrioWithCdi)) return;
  const auto effective = read_crio_configuration(settings, host);
  if (!effective) return;
  EngineFolders engine = with_defaults("CRI-O");
  set_folders(engine, at_path(*effective, {"crio", "runtime", "cdi_spec_dirs"}), text_of(found, "config"));
  all.push_back(std::move(engine));
}

void add_podman(const Host& host, std::vector<EngineFolders>& all) {
  if (find_program(host, "podman").empty() || is_older(host, {"podman"}, kPodmanWithCdi)) return;
  const auto conf = read_containers_conf(host);
  if (!conf) return;
  EngineFolders engine = with_defaults("podman");
  if (parse_engine_version(read_package_version(host, {"podman"})) == kPodmanWithoutRunCdi)
    engine.folders = {"/etc/cdi"};
  set_folders(engine, at_path(*conf, {"engine", "cdi_spec_dirs"}), "/etc/containers/containers.conf");
  all.push_back(std::move(engine));
}

}  // namespace

bool EngineFolders::has(const std::string& folder) const {
  return std::ranges::any_of(folders,
                             [&](const std::string& each) { return plain_folder(each) == plain_folder(folder); });
}

std::vector<EngineFolders> read_engine_folders(const Host& host) {
  std::vector<EngineFolders> all;
  add_containerds(host, all);
  add_crio(host, all);
  add_docker(host, all);
  add_podman(host, all);
  return all;
}

std::string to_text(const EngineFolders& engine, const std::string& folder) {
  return engine.engine + " reads CDI specs from " + (engine.folders.empty() ? "no folder" : joined(engine.folders)) +
         " (" + (engine.place.empty() ? "its default" : engine.place) + "), so its containers do not find those in " +
         folder;
}

std::string remedy_for(const EngineFolders& engine, const std::string& folder) {
  const std::string own =
      engine.folders.empty() ? "" : "write folder: " + engine.folders.front() + " for the component cdi, or ";
  return own + "add " + folder + " to the list of CDI folders of " + engine.engine +
         (engine.place.empty() ? "" : " in " + engine.place);
}

}  // namespace slipway::toolkit
