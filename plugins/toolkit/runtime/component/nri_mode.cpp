// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include <poll.h>
#include <sys/socket.h>

#include <slipway/unix_socket.hpp>

#include "toolkit/environment.hpp"
#include "toolkit/nri/registered.hpp"
#include "toolkit/runtime/component/component.hpp"
#include "toolkit/runtime/containerd/config.hpp"
#include "toolkit/runtime/containerd/kinds.hpp"
#include "toolkit/runtime/daemon.hpp"
#include "toolkit/runtime/engine.hpp"

namespace slipway::toolkit {
namespace {

constexpr EngineVersion kContainerdWithNri{1, 7};
constexpr EngineVersion kContainerdWithNriOn{2, 0};
constexpr const char* kWhere = "spec.components.runtime.mode";
constexpr const char* kUnit = "slipway-runtime.service";
constexpr std::size_t kMostAnswer = 64U << 10U;
constexpr std::chrono::milliseconds kAnswerLimit{2000};
constexpr std::chrono::seconds kRegistrationLimit{5};
constexpr std::chrono::milliseconds kLookEvery{200};

std::vector<std::string> engines_with_nri() {
  std::vector<std::string> names;
  for (const ContainerdKind& kind : containerd_kinds()) names.push_back(kind.name);
  names.emplace_back("crio");
  return names;
}

Status expect_nri(const RuntimeSettings& settings) {
  for (const char* without : {"docker", "podman"})
    if (std::ranges::count(settings.engines, without) != 0)
      return Error{ErrorCode::unsupported,
                   std::string(without) + " has no NRI",
                   "spec.components.runtime.engines",
                   "remove it from engines, or write mode: config",
                   {}};
  return {};
}

/// True when a process listens on the socket, according to the kernel's list. A connection would appear as a plugin
/// that never registers, which engines log as an error.
bool is_listened_on(const Host& host, const std::string& socket) {
  const std::string wanted = host.resolve(socket).value_or("");
  if (!host.live() || wanted.empty()) return false;
  const std::string root = host.root_folder() == "/" ? "" : host.root_folder();
  for (const std::string& path : listening_sockets(host, file_name(socket)))
    if (path == root + wanted || path == root + socket || host.resolve(path).value_or("") == wanted) return true;
  return false;
}

Error no_nri(const Json& engine, const std::string& why, const std::string& next) {
  const std::string version = text_of(engine, "version");
  return Error{ErrorCode::unsupported,
               text_of(engine, "title") + (version.empty() ? "" : " " + version) + " " + why,
               kWhere,
               next,
               {}};
}

/// Says how to enable NRI in an engine.
std::string switch_on(const Json& engine) {
  if (text_of(engine, "kind") == "crio") return "set enable_nri = true in [crio.nri] of " + text_of(engine, "config");
  return "set disable = false in [plugins.\"io.containerd.nri.v1.nri\"] of " + text_of(engine, "config");
}

Status plan_engine(const RuntimeSettings& settings, const Json& engine, bool listens, bool live, Plan& plan) {
  const EngineVersion version = parse_engine_version(text_of(engine, "version"));
  const bool containerd = text_of(engine, "kind") != "crio";
  if (containerd && version.known() && version < kContainerdWithNri)
    return no_nri(engine, "has no NRI", "update it to 2.0 or newer, or write mode: config");
  const bool off_by_default = containerd && version.known() && version < kContainerdWithNriOn;
  if (listens) return {};
  const std::string off =
      off_by_default ? "has NRI switched off, as it is by default before 2.0" : "has NRI switched off";
  if (live && engine.value("answers", false))
    return no_nri(engine, "runs and does not listen at " + settings.nri_socket + ": it " + off,
                  switch_on(engine) + " and restart it, or write mode: config");
  plan.note(text_of(engine, "title") + (live ? " does not run" : " cannot be asked in an image") +
            ", so slipway does not know yet whether its NRI is on" +
            (off_by_default ? "; before 2.0 it is off by default: " + switch_on(engine) : ""));
  return {};
}

/// Returns the status of the running service; null: there is none.
Json ask_service(const Host& host) {
  const auto end = connect_to(host, std::string(kControlFolder) + "/runtime.sock");
  constexpr std::string_view kQuestion = "{\"op\": \"status\"}\n";
  if (!end || ::send(end->get(), kQuestion.data(), kQuestion.size(), MSG_NOSIGNAL) < 0) return nullptr;
  std::string line;
  const auto limit = std::chrono::steady_clock::now() + kAnswerLimit;
  while (line.find('\n') == std::string::npos && line.size() < kMostAnswer) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now());
    pollfd watched{end->get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&watched, 1, static_cast<int>(left.count())) != 1) return nullptr;
    char part[1024];
    const ssize_t got = ::recv(end->get(), part, sizeof part, 0);
    if (got <= 0) return nullptr;
    line.append(part, static_cast<std::size_t>(got));
  }
  const Json state = Json::parse(line, nullptr, false);
  return state.is_object() ? state : Json(nullptr);
}

void verify_service(const Host& host, Findings& findings) {
  const auto limit = std::chrono::steady_clock::now() + kRegistrationLimit;
  std::string status;
  for (bool first = true; first || std::chrono::steady_clock::now() < limit; first = false) {
    const Json state = ask_service(host);
    if (state.is_null() && starts_later(host, kUnit))
      return findings.not_exercised("runtime.nri", "systemd starts the service later in this boot");
    if (state.is_null())
      return findings.fail("runtime.nri", "the service that gives devices to containers does not run",
                           std::string("look at `systemctl status ") + kUnit + "`; `slipway apply` starts it");
    status = text_of(state, "status");
    if (status.starts_with(nri::kRegistered)) return findings.pass("runtime.nri", "the plugin is " + status);
    if (host.booting())
      return findings.not_exercised("runtime.nri", "container engines may start once this boot is verified");
    std::this_thread::sleep_for(kLookEvery);  // the engine may have just started
  }
  findings.fail("runtime.nri", "containers get no devices: " + (status.empty() ? "the service is starting" : status),
                std::string("look at `journalctl -u ") + kUnit + "`");
}

}  // namespace

Result<Facts> detect_nri(const RuntimeSettings& settings, const Host& host) {
  SLIPWAY_CHECK(expect_nri(settings));
  Facts facts;
  bool any = false;
  for (const std::string& name : engines_with_nri()) {
    if (!settings.engines.empty() && std::ranges::count(settings.engines, name) == 0) continue;
    Json engine = name == "crio" ? find_crio(settings, host) : find_containerd(name, settings, host);
    if (engine.is_null() && !settings.engines.empty())
      return Error{ErrorCode::not_found,
                   name + " is not installed",
                   "spec.components.runtime.engines",
                   "install it, or remove it from engines",
                   {}};
    if (engine.is_null()) continue;
    engine["answers"] = socket_answers(host, text_of(engine, "socket"));
    any = true;
    if (const std::string kind = text_of(engine, "kind"); !facts.has(kind)) facts.set(kind, engine);
  }
  if (!any) return Facts::not_applicable("no container engine that has NRI is installed");
  facts.set("settings", settings);
  facts.set("nri", Json{{"listens", is_listened_on(host, settings.nri_socket)}});
  return facts;
}

Result<Plan> plan_nri(const RuntimeSettings& settings, const Facts& facts, bool live) {
  Plan plan;
  const bool listens = facts.value("nri").value("listens", false);
  for (const std::string& name : engines_with_nri())
    if (facts.has(name)) SLIPWAY_CHECK(plan_engine(settings, facts.value(name), listens, live, plan));
  return plan;
}

Result<Findings> verify_nri(const RuntimeSettings& settings, const Host& host) {
  SLIPWAY_TRY(facts, detect_nri(settings, host));
  Findings findings;
  for (const std::string& name : engines_with_nri()) {
    if (!facts.has(name)) continue;
    if (findings.on_live_machine(host, "runtime." + name))
      verify_answers("runtime." + name, facts.value(name), host, findings);
  }
  if (findings.on_live_machine(host, "runtime.nri")) verify_service(host, findings);
  verify_kubelet(settings, host, findings);
  return findings;
}

}  // namespace slipway::toolkit
