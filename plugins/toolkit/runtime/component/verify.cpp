// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "toolkit/runtime/component/component.hpp"
#include "toolkit/runtime/daemon.hpp"
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/engine_checks.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

constexpr std::chrono::seconds kDumpLimit{30};

std::string where_to_look(const Json& facts) {
  const std::string unit = facts.value("unit", "");
  return unit.empty() ? "start it, and look at what it prints" : "look at `systemctl status " + unit + "`";
}

}  // namespace

void verify_containerd(const std::string& name, const RuntimeSettings& settings, const Json& facts, const Host& host,
                       Findings& findings) {
  const std::string program = facts.value("program", "");
  const std::string config = facts.value("config", "");
  const std::string title = facts.value("title", "containerd");
  if (text_of(at_path(facts, {"edit"}), "kind") == "none")
    return findings.not_exercised(name, title + "'s CRI plugin is switched off, so nothing is written for it");
  std::vector<std::string> argv{program};
  if (host.exists(config)) argv.insert(argv.end(), {"--config", config});
  argv.insert(argv.end(), {"config", "dump"});
  const auto dump = host.run(argv, kDumpLimit);
  const auto parsed =
      dump && dump->exit_status == 0 ? parse_toml(dump->output, "containerd config dump") : Result<Json>(Json(nullptr));
  const Json plugins = parsed ? at_path(*parsed, {"plugins"}) : Json(nullptr);
  if (!plugins.is_object())
    return findings.fail(name, title + " cannot read its configuration" + (dump ? ": " + dump->errors : ""),
                         "look at " + config + "; `slipway rollback` brings back the former one");
  for (const std::string& handler : settings.names) {
    const bool existing = std::ranges::any_of(plugins.items(), [&](const auto& plugin) {
      return at_path(plugin.value(), {"containerd", "runtimes", handler}).is_object();
    });
    if (!existing)
      return findings.fail(name, title + " does not see the runtime class " + handler, "run `slipway apply`");
  }
  const std::string socket = facts.value("socket", "");
  const bool answers = socket_answers(host, socket);
  if (!answers && starts_later(host, facts.value("unit", "")))
    return findings.not_exercised(name, title + " has the runtime classes, and systemd starts it later in this boot");
  if (!answers)
    return findings.fail(name, title + " has the runtime classes, but does not answer at " + socket,
                         where_to_look(facts));
  findings.pass(name, title + " has the runtime classes that were asked for" +
                          (cri_works(host, program, socket) ? ", and its CRI plugin is loaded" : ""));
}

void verify_answers(const std::string& name, const Json& facts, const Host& host, Findings& findings) {
  const std::string socket = facts.value("socket", "");
  if (socket.empty()) return findings.not_exercised(name, "it has no daemon that could be asked");
  if (socket_answers(host, socket)) return findings.pass(name, "it answers at " + socket);
  if (facts.value("snap", false))
    return findings.not_exercised(name, "Docker is here as a snap, which is left as it is, and it does not run");
  if (starts_later(host, facts.value("unit", "")))
    return findings.not_exercised(name, "systemd starts it later in this boot");
  findings.fail(name, "it does not answer at " + socket, where_to_look(facts));
}

}  // namespace slipway::toolkit
