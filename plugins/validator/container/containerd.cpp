// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/containerd.cpp - containerd, by itself and as K3s, RKE2, k0s and MicroK8s bring it along.
// ctr supports CDI from 2.0 on (containerd#8525); containerd 1.7 supports it only in its CRI. With an older ctr,
// slipway-runtime is the runtime of the container.
//
// Places: K3s' scripts/build, docs.rke2.io "cluster access", docs.k0sproject.io "k0s ctr", MicroK8s' snap, Canonical
// Kubernetes' "manage images". Not `k3s ctr`: if K3s keeps its data elsewhere, that would unpack all of it again.
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
  const char* engine;  ///< Place::engine
  const char* socket;
  const char* program;
  const char* word;  ///< subcommand of a multi-call program, else empty
  const char* unit;
};
constexpr std::array kClients{
    Client{"containerd", "/run/containerd/containerd.sock", "/usr/bin/ctr", "", "containerd"},
    Client{"containerd", "/run/containerd/containerd.sock", "/usr/local/bin/ctr", "", "containerd"},
    Client{"containerd", "/run/containerd/containerd.sock", "/snap/k8s/current/bin/ctr", "", "snap.k8s.containerd"},
    Client{"k3s", "/run/k3s/containerd/containerd.sock", "/var/lib/rancher/k3s/data/current/bin/ctr", "", "'k3s*'"},
    Client{"k3s", "/run/k3s/containerd/containerd.sock", "/var/lib/rancher/rke2/bin/ctr", "", "'rke2*'"},
    Client{"k0s", "/run/k0s/containerd.sock", "/usr/local/bin/k0s", "ctr", "'k0s*'"},
    Client{"k0s", "/run/k0s/containerd.sock", "/usr/bin/k0s", "ctr", "'k0s*'"},
    Client{"microk8s", "/var/snap/microk8s/common/run/containerd.sock", "/snap/microk8s/current/bin/ctr", "",
           "snap.microk8s.daemon-containerd"},
};

Words program_of(const Client& client) {
  Words words{client.program};
  if (*client.word != '\0') words.emplace_back(client.word);
  return words;
}

Words by_ctr(const Client& client, const Words& more) {
  Words words = program_of(client);
  words.insert(words.end(), {"--address", client.socket, "--namespace", kNamespace});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Killing ctr leaves the container running. There is no snapshot: its root is the folder.
Removals removals_by_ctr(const Client& client, const Place& place) {
  return {.container = {by_ctr(client, {"tasks", "delete", "--force", place.name()}),
                        by_ctr(client, {"containers", "delete", place.name()})},
          .shared = by_ctr(client, {"namespaces", "remove", kNamespace})};
}

/// Sets no CPU shares, because some machines lack the CPU controller.
Engine engine_of(const std::string& name, const Client& client, const GpuAccess& access, const Wanted& wanted) {
  Engine engine{.name = name, .given = access.shown, .place = {client.engine, wanted.number}};
  engine.start = by_ctr(client, {"run", "--rm", "--cpu-shares", "0"});
  engine.start.insert(engine.start.end(), access.options.begin(), access.options.end());
  engine.start.insert(engine.start.end(), {"--rootfs", engine.place.root(), engine.place.name(), "/probe"});
  engine.removals = removals_by_ctr(client, engine.place);
  engine.by_hand = joined(program_of(client), " ") + " --address " + client.socket + " run --rm " +
                   joined(access.options, " ") + " IMAGE NAME ls /dev";
  engine.unit = client.unit;
  return engine;
}

Offer ask_client(const Runner& runner, const std::string& name, const Client& client, const Wanted& wanted) {
  const Host& host = runner.host();
  const ProgramVersion version = version_of_program(runner, program_of(client));
  if (!version.why_not.empty()) return {{}, version.why_not};
  const std::string shown = name + "'s ctr " + version.text;
  if (version.numbers < kOldestCtr) return {{}, shown + " is older than 1.6"};
  if (version.numbers >= kFirstCtrWithCdi && !wanted.device.empty())
    return {engine_of(name, client, {wanted.device, {"--device", wanted.device}}, wanted), {}};
  const Program runtime = find_program(host, std::span(&kRuntime, 1));
  std::string why_not = runtime.path.empty() ? "slipway-runtime is not installed" : why_no_variable(host);
  if (!runtime.why_not.empty()) why_not = runtime.why_not;
  if (!why_not.empty()) return {{}, shown + " does not support CDI, as 2.0 and newer do, and " + why_not};
  return {engine_of(name, client, {"slipway-runtime", {"--runc-binary", kRuntime, "--env", kAllGpus}}, wanted), {}};
}

Offer ask_containerd(const Runner& runner, const EngineSocket& place, const Wanted& wanted) {
  const Host& host = runner.host();
  if (!host.exists(place.path)) return {};
  if (const auto end = connect_to(host, place.path); !end)
    return {{},
            end.error().code == ErrorCode::unreachable
                ? std::string(place.name) + " does not answer at " + place.path
                : std::string(place.name) + " cannot be asked: " + end.error().what};
  Offer offer{{}, std::string("the program ctr of ") + place.name + " is missing at its usual place"};
  for (const Client& client : kClients) {
    if (std::string_view(client.socket) != place.path) continue;
    const Program found = find_program(host, std::span(&client.program, 1));
    if (!found.path.empty())
      offer = ask_client(runner, place.name, client, wanted);
    else if (!found.why_not.empty())
      offer.why_not = found.why_not;
    if (offer.engine) break;
  }
  return offer;
}

}  // namespace

Offer ask_containerds(const Runner& runner, const Wanted& wanted) {
  std::string reasons;
  for (const EngineSocket& place : kEngineSockets) {
    if (std::string_view(place.name) == kCrio.name) continue;  // no containerd
    Offer offer = ask_containerd(runner, place, wanted);
    if (!offer.why_not.empty()) reasons += (reasons.empty() ? "" : "; ") + offer.why_not;
    if (offer.engine) return {std::move(offer.engine), reasons};
  }
  return {{}, reasons};
}

std::optional<Removals> removals_of_containerd(const Host& host, const Place& place) {
  for (const Client& client : kClients) {
    if (place.engine != client.engine || find_program(host, std::span(&client.program, 1)).path.empty()) continue;
    if (!connect_to(host, client.socket)) return std::nullopt;
    return removals_by_ctr(client, place);
  }
  return std::nullopt;
}

}  // namespace slipway::validator
