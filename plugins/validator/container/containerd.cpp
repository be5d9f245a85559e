// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/containerd.cpp - containerd, its own and those of K3s, RKE2, k0s and MicroK8s, by ctr,
// which is what knows CDI from 1.7 on: containerd gets the finished container of it.
//
// Places: K3s' scripts/build, docs.rke2.io "cluster access", docs.k0sproject.io "k0s ctr", MicroK8s' snap, Canonical
// Kubernetes' "manage images". Not `k3s ctr`: where K3s keeps its data elsewhere that would unpack all of it anew.
#include <array>
#include <string_view>

#include <slipway/unix_socket.hpp>

#include "validator/container/engine.hpp"
#include "validator/toolkit_check.hpp"

namespace slipway::validator {
namespace {

constexpr EngineVersion kFirstCtrWithCdi{1, 7};
constexpr const char* kNamespace = "slipway";  // of containerd's

struct Client {
  const char* socket;
  const char* program;
  const char* word;  ///< of a program of many commands, else empty
  const char* unit;
};
constexpr std::array kClients{
    Client{"/run/containerd/containerd.sock", "/usr/bin/ctr", "", "containerd"},
    Client{"/run/containerd/containerd.sock", "/usr/local/bin/ctr", "", "containerd"},
    Client{"/run/containerd/containerd.sock", "/snap/k8s/current/bin/ctr", "", "snap.k8s.containerd"},
    Client{"/run/k3s/containerd/containerd.sock", "/var/lib/rancher/k3s/data/current/bin/ctr", "", "'k3s*'"},
    Client{"/run/k3s/containerd/containerd.sock", "/var/lib/rancher/rke2/bin/ctr", "", "'rke2*'"},
    Client{"/run/k0s/containerd.sock", "/usr/local/bin/k0s", "ctr", "'k0s*'"},
    Client{"/run/k0s/containerd.sock", "/usr/bin/k0s", "ctr", "'k0s*'"},
    Client{"/var/snap/microk8s/common/run/containerd.sock", "/snap/microk8s/current/bin/ctr", "",
           "snap.microk8s.daemon-containerd"},
};

Words program_of(const Client& client) {
  Words words{client.program};
  if (*client.word != '\0') words.emplace_back(client.word);
  return words;
}

/// Whoever kills ctr leaves the container running. There is no snapshot: its root is the folder.
Engine engine_of(const std::string& name, const Client& client, const Wanted& wanted) {
  const auto with = [&](const Words& more) {
    Words words = program_of(client);
    words.insert(words.end(), {"--address", client.socket, "--namespace", kNamespace});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  Engine engine{.name = name, .given = wanted.device};
  engine.start = with({"run", "--rm", "--device", wanted.device, "--rootfs", wanted.folder, wanted.name, "/probe"});
  engine.when_stuck = {with({"tasks", "delete", "--force", wanted.name}), with({"containers", "delete", wanted.name})};
  engine.afterwards = {with({"namespaces", "remove", kNamespace})};
  for (const std::string& word : program_of(client)) engine.by_hand += word + " ";
  engine.by_hand +=
      std::string("--address ") + client.socket + " run --rm --device " + wanted.device + " IMAGE NAME ls /dev";
  engine.unit = client.unit;
  return engine;
}

Offer ask_containerd(const Host& host, const EngineSocket& place, const Wanted& wanted) {
  if (!host.exists(place.path)) return {};
  if (!connect_to(host, place.path)) return {{}, std::string(place.name) + " does not answer at " + place.path};
  std::string why_not = std::string("no ctr of ") + place.name + " is at its usual place";
  for (const Client& client : kClients) {
    if (std::string_view(client.socket) != place.path) continue;
    const Program found = find_program(host, std::span(&client.program, 1));
    if (!found.why_not.empty()) why_not = found.why_not;
    if (found.path.empty()) continue;
    const std::string version = version_of_program(host, program_of(client));
    if (parse_engine_version(version) >= kFirstCtrWithCdi) return {engine_of(place.name, client, wanted), {}};
    why_not = std::string(place.name) + "'s ctr " + version + " knows no CDI, as 1.7 and newer do";
  }
  return {{}, why_not};
}

}  // namespace

Offer ask_containerds(const Host& host, const Wanted& wanted) {
  std::string reasons;
  for (const EngineSocket& place : kEngineSockets) {
    if (std::string_view(place.name) == "CRI-O") continue;  // no containerd
    Offer offer = ask_containerd(host, place, wanted);
    if (offer.engine) return offer;
    if (!offer.why_not.empty()) reasons += (reasons.empty() ? "" : "; ") + offer.why_not;
  }
  return {{}, reasons};
}

}  // namespace slipway::validator
