// SPDX-License-Identifier: Apache-2.0
// Paths: docs.k3s.io "advanced", docs.rke2.io "advanced", docs.k0sproject.io "runtime", and MicroK8s' snap.
#include "toolkit/runtime/containerd/kinds.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <slipway/text.hpp>

#include "toolkit/environment.hpp"
#include "toolkit/runtime/daemon.hpp"
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/unit_command.hpp"

namespace slipway::toolkit {
namespace {

std::string rancher_data(const std::string& name) { return "/var/lib/rancher/" + name; }

ContainerdKind rancher(const std::string& name, const std::string& title, const std::string& programs,
                       std::vector<std::string> units) {
  const std::string data = rancher_data(name);
  const std::string folder = data + "/agent/etc/containerd";
  return {name,
          title,
          ConfigMaker::rancher,
          folder + "/config.toml",
          folder,
          "/run/k3s/containerd/containerd.sock",
          {data + programs},
          std::move(units),
          {name, data + "/agent"}};
}

/// Returns the last value of `data-dir` in the configuration of K3s or RKE2.
std::string data_of_files(const std::string& name, const Host& host) {
  const std::string config = "/etc/rancher/" + name + "/config.yaml";
  std::vector<std::string> paths{config};
  const auto names = host.list(config + ".d").value_or({});
  for (const std::string& more : names)
    if (more.ends_with(".yaml") || more.ends_with(".yml")) paths.push_back(config + ".d/" + more);
  std::string found;
  for (const std::string& path : paths)
    for (const std::string& line : lines_of(host.read(path).value_or(""))) {
      if (!line.starts_with("data-dir:")) continue;
      std::string_view value = trimmed(std::string_view(line).substr(std::string_view("data-dir:").size()));
      value = trimmed(value.substr(0, value.find(" #")));
      if (value.size() > 1 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0])
        value = value.substr(1, value.size() - 2);
      found = value;
    }
  return found;
}

/// Returns the data folder of K3s or RKE2: a flag of the unit overrides its variable, which overrides the files.
std::string data_of(const ContainerdKind& kind, const Host& host) {
  std::string variable = kind.name + "_DATA_DIR";
  for (char& letter : variable) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  std::string of_variable;
  for (const std::string& unit : kind.units) {
    const auto command = read_unit_command(host, unit);
    if (!command) continue;
    const Daemon daemon{"", command->words, unit, command->place};
    if (const std::string told = daemon.option({"--data-dir", "-d"}); told.starts_with('/')) return told;
    if (const auto set = command->environment.find(variable); set != command->environment.end())
      of_variable = set->second;
  }
  if (of_variable.starts_with('/')) return of_variable;
  const std::string of_files = data_of_files(kind.name, host);
  return of_files.starts_with('/') ? of_files : rancher_data(kind.name);
}

void put_data(ContainerdKind& kind, const std::string& data) {
  const std::string usual = rancher_data(kind.name);
  const auto moved = [&](std::string& path) {
    if (path.starts_with(usual + "/")) path = data + path.substr(usual.size());
  };
  moved(kind.config);
  moved(kind.folder);
  for (std::string& program : kind.programs) moved(program);
  for (std::string& mark : kind.marks) moved(mark);
}

/// Returns the distribution that the path belongs to; empty: none.
std::string kind_of_path(const std::string& path, const Host& host) {
  if (path.find("/agent/etc/containerd/") != std::string::npos)
    return path.find("/rke2/") != std::string::npos ? "rke2" : "k3s";
  if (path.starts_with("/run/k3s/") || path.starts_with("/var/run/k3s/"))
    return host.exists("/var/lib/rancher/rke2/agent") ? "rke2" : "k3s";
  if (path.starts_with("/etc/k0s/") || path.starts_with("/run/k0s/")) return "k0s";
  return path.starts_with("/var/snap/microk8s/") ? "microk8s" : "";
}

/// Applies a configured place to the kind.
void put_config(ContainerdKind& kind, const std::string& config) {
  if (config.empty()) return;
  if (kind.maker == ConfigMaker::rancher) {  // the template or the result: both are in one folder
    kind.folder = folder_of(config);
    kind.config = kind.folder + "/config.toml";
  } else if (kind.maker == ConfigMaker::microk8s) {
    kind.folder = folder_of(config);
  } else if (kind.maker == ConfigMaker::admin) {
    kind.config = config;
  }
}

}  // namespace

const std::vector<ContainerdKind>& containerd_kinds() {
  static const std::vector<ContainerdKind> kinds{
      {"containerd",
       "containerd",
       ConfigMaker::admin,
       "/etc/containerd/config.toml",
       "",
       "/run/containerd/containerd.sock",
       {},
       {"containerd.service"},
       {"containerd"}},
      rancher("k3s", "K3s", "/data/current/bin/containerd", {"k3s.service", "k3s-agent.service"}),
      rancher("rke2", "RKE2", "/bin/containerd", {"rke2-server.service", "rke2-agent.service"}),
      {"k0s",
       "k0s",
       ConfigMaker::k0s,
       "/etc/k0s/containerd.toml",
       "/etc/k0s/containerd.d",
       "/run/k0s/containerd.sock",
       {"/var/lib/k0s/bin/containerd"},
       {"k0sworker.service", "k0scontroller.service"},
       {"k0s", "/var/lib/k0s/bin/containerd"}},
      {"microk8s",
       "MicroK8s",
       ConfigMaker::microk8s,
       "/var/snap/microk8s/current/args/containerd.toml",
       "/var/snap/microk8s/current/args",
       "/var/snap/microk8s/common/run/containerd.sock",
       {"/snap/microk8s/current/bin/containerd"},
       {"snap.microk8s.daemon-containerd.service"},
       {"/var/snap/microk8s/current/args/containerd-template.toml"}},
  };
  return kinds;
}

ContainerdKind containerd_kind(const std::string& name, const RuntimeSettings& settings, const Host& host) {
  const EnginePlace place = settings.place("containerd");
  std::string wanted = name;
  for (const std::string& path : {place.config, place.drop_in, place.socket})
    if (wanted == "containerd" && !kind_of_path(path, host).empty()) wanted = kind_of_path(path, host);
  const auto& kinds = containerd_kinds();
  const auto found = std::ranges::find(kinds, wanted, &ContainerdKind::name);
  ContainerdKind kind = found == kinds.end() ? kinds.front() : *found;
  if (kind.maker == ConfigMaker::rancher) put_data(kind, data_of(kind, host));
  // With several kinds a configured place belongs to plain containerd, unless only one kind was requested.
  if (name != "containerd" && settings.engines.size() != 1) return kind;
  put_config(kind, place.config);
  if (!place.socket.empty()) kind.socket = place.socket;
  if (!place.program.empty()) kind.programs = {place.program};
  return kind;
}

std::string containerd_config(const ContainerdKind& kind, const Host& host) {
  if (kind.maker != ConfigMaker::admin) return kind.config;
  auto daemon = find_peer(host, kind.socket, "containerd");
  if (!daemon) daemon = read_unit(host, first_unit(host, kind.units));
  if (!daemon || file_name(daemon->program) != "containerd") return kind.config;
  const std::string told = daemon->option({"--config", "-c"});
  if (told.starts_with('/')) return std::filesystem::path(told).lexically_normal().string();
  return told.starts_with('$') ? told : kind.config;
}

bool is_installed(const ContainerdKind& kind, const Host& host) {
  return std::ranges::any_of(kind.marks, [&](const std::string& mark) {
    return mark.starts_with('/') ? host.exists(mark) : !find_program(host, mark).empty();
  });
}

}  // namespace slipway::toolkit
