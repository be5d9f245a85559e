// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/containerd.cpp - containerd, by itself and as K3s, RKE2, k0s and MicroK8s bring it along.
// It is ctr that knows CDI, from 2.0 on (containerd#8525): containerd 1.7 knows it in its CRI alone. An older ctr names
// slipway-runtime as the runtime of the container.
//
// Places: K3s' scripts/build, docs.rke2.io "cluster access", docs.k0sproject.io "k0s ctr", MicroK8s' snap, Canonical
// Kubernetes' "manage images". Not `k3s ctr`: where K3s keeps its data elsewhere that would unpack all of it anew.
#include <array>
#include <string_view>

#include <slipway/text.hpp>
#include <slipway/unix_socket.hpp>

#include "validator/container/engine.hpp"
#include "validator/toolkit_check.hpp"

namespace slipway::validator {
namespace {

constexpr EngineVersion kFirstCtrWithCdi{2, 0};
constexpr EngineVersion kOldestCtr{1, 6};
constexpr const char* kRuntime = "/usr/bin/slipway-runtime";
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

/// Whoever kills ctr leaves the container running. There is no snapshot: its root is the folder. No shares are asked
/// for, as there are machines without the CPU controller.
Engine engine_of(const std::string& name, const Client& client, const Gift& gift, const Wanted& wanted) {
  const auto with = [&](const Words& more) {
    Words words = program_of(client);
    words.insert(words.end(), {"--address", client.socket, "--namespace", kNamespace});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  Engine engine{.name = name, .given = gift.shown};
  engine.start = with({"run", "--rm", "--cpu-shares", "0"});
  engine.start.insert(engine.start.end(), gift.options.begin(), gift.options.end());
  engine.start.insert(engine.start.end(), {"--rootfs", wanted.folder, wanted.name, "/probe"});
  engine.when_stuck = {with({"tasks", "delete", "--force", wanted.name}), with({"containers", "delete", wanted.name})};
  engine.afterwards = {with({"namespaces", "remove", kNamespace})};
  engine.by_hand = joined(program_of(client), " ") + " --address " + client.socket + " run --rm " +
                   joined(gift.options, " ") + " IMAGE NAME ls /dev";
  engine.unit = client.unit;
  return engine;
}

Offer ask_client(const Host& host, const std::string& name, const Client& client, const Wanted& wanted) {
  const std::string text = version_of_program(host, program_of(client));
  const EngineVersion version = parse_engine_version(text);
  const std::string shown = name + "'s ctr " + text;
  if (version < kOldestCtr) return {{}, shown + " is older than 1.6"};
  if (version >= kFirstCtrWithCdi && !wanted.device.empty())
    return {engine_of(name, client, {wanted.device, {"--device", wanted.device}}, wanted), {}};
  const Program runtime = find_program(host, std::span(&kRuntime, 1));
  std::string why_not = runtime.path.empty() ? "slipway-runtime is not installed" : why_no_variable(host);
  if (!runtime.why_not.empty()) why_not = runtime.why_not;
  if (!why_not.empty()) return {{}, shown + " knows no CDI, as 2.0 and newer do, and " + why_not};
  return {engine_of(name, client, {"slipway-runtime", {"--runc-binary", kRuntime, "--env", kAllGpus}}, wanted), {}};
}

Offer ask_containerd(const Host& host, const EngineSocket& place, const Wanted& wanted) {
  if (!host.exists(place.path)) return {};
  if (!connect_to(host, place.path)) return {{}, std::string(place.name) + " does not answer at " + place.path};
  Offer offer{{}, std::string("no ctr of ") + place.name + " is at its usual place"};
  for (const Client& client : kClients) {
    if (std::string_view(client.socket) != place.path) continue;
    const Program found = find_program(host, std::span(&client.program, 1));
    if (!found.path.empty())
      offer = ask_client(host, place.name, client, wanted);
    else if (!found.why_not.empty())
      offer.why_not = found.why_not;
    if (offer.engine) break;
  }
  return offer;
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
