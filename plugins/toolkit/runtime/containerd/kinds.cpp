// SPDX-License-Identifier: Apache-2.0
// Paths: docs.k3s.io "advanced", docs.rke2.io "advanced", docs.k0sproject.io "runtime", and MicroK8s' snap.
#include "toolkit/runtime/containerd/kinds.hpp"

#include <algorithm>

#include "toolkit/environment.hpp"
#include "toolkit/runtime/engine.hpp"

namespace slipway::toolkit {
namespace {

ContainerdKind rancher(const std::string& name, const std::string& title, const std::string& programs,
                       std::vector<std::string> units) {
  const std::string data = "/var/lib/rancher/" + name;
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

/// Which distribution's path that is; empty: none's.
std::string kind_of_path(const std::string& path, const Host& host) {
  if (path.find("/agent/etc/containerd/") != std::string::npos)
    return path.find("/rke2/") != std::string::npos ? "rke2" : "k3s";
  if (path.starts_with("/run/k3s/") || path.starts_with("/var/run/k3s/"))
    return host.exists("/var/lib/rancher/rke2/agent") ? "rke2" : "k3s";
  if (path.starts_with("/etc/k0s/") || path.starts_with("/run/k0s/")) return "k0s";
  return path.starts_with("/var/snap/microk8s/") ? "microk8s" : "";
}

/// A place that was named, in the kind's own terms.
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
  // Several kinds side by side: what was named is about plain containerd, unless it is the only one that was asked for.
  if (name != "containerd" && settings.engines.size() != 1) return kind;
  put_config(kind, place.config);
  if (!place.socket.empty()) kind.socket = place.socket;
  if (!place.program.empty()) kind.programs = {place.program};
  return kind;
}

bool is_installed(const ContainerdKind& kind, const Host& host) {
  return std::ranges::any_of(kind.marks, [&](const std::string& mark) {
    return mark.starts_with('/') ? host.exists(mark) : !find_program(host, mark).empty();
  });
}

}  // namespace slipway::toolkit
