// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "toolkit/runtime/component/component.hpp"
#include "toolkit/runtime/containerd/configuration.hpp"
#include "toolkit/runtime/containerd/facts.hpp"
#include "toolkit/runtime/daemon.hpp"
#include "toolkit/runtime/docker/daemon_json.hpp"
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/engine_checks.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

constexpr std::chrono::seconds kDumpLimit{30};

/// The flag in docker_flags(), and the key of daemon.json.
constexpr std::pair<const char*, const char*> kDockerKeys[] = {
    {"default-runtime", "default-runtime"}, {"cdi", "features"}, {"cdi-spec-dirs", "cdi-spec-dirs"}};

std::string where_to_look(const Json& facts) {
  const std::string unit = facts.value("unit", "");
  return unit.empty() ? "start it, and check its output" : "look at `systemctl status " + unit + "`";
}

/// Returns the last file with the runtime class; empty: none has it.
std::string file_with(const Configuration& all, const std::string& handler) {
  std::string path;
  for (const ConfigFile& file : all.files())
    if (at_path(all.table_of(file), {"containerd", "runtimes", handler}).is_object()) path = file.path;
  return path;
}

}  // namespace

bool containerd_files_fail(const std::string& name, const RuntimeSettings& settings, const Json& facts,
                           const Host& host, Findings& findings) {
  const ContainerdFacts containerd = facts;
  const ContainerdEdit& edit = containerd.edit;
  if (!containerd.engine().known() || edit.kind == "none" || edit.kind == "template") return false;
  const auto all = Configuration::read(host, containerd.config, containerd.engine());
  if (!all || all->top().value.empty()) return false;  // an unreadable file is an error of the plan
  const Json classes = at_path(all->table(), {"containerd", "runtimes"});
  for (const std::string& handler : settings.names) {
    if (at_path(classes, {handler}).is_object()) continue;
    const std::string path = file_with(*all, handler);
    const std::string deciding = all->deciding().path;
    if (path.empty())
      findings.fail(name, "no file that " + containerd.title + " reads has the runtime class " + handler,
                    "run `slipway apply`");
    else
      findings.fail(
          name,
          containerd.title + " " + containerd.version + " will not see the runtime class " + handler + " of " + path +
              ": " + deciding + " is read later, and its CRI table is used instead",
          "run `slipway apply`, which writes the class to the file that is used; or remove the CRI table from " +
              deciding);
    return true;
  }
  return false;
}

bool docker_files_fail(const std::string& name, const Json& facts, const Host& host, Findings& findings) {
  const std::string config = facts.value("config", "");
  const Json flags = facts.value("flags", Json::object());
  const auto file = read_daemon_json(host, config);
  if (!file) return false;  // an error of the plan
  for (const auto& [flag, key] : kDockerKeys) {
    if (!flags.contains(flag) || !file->contains(key)) continue;
    findings.fail(name,
                  "dockerd will not start: " + text_of(flags, "place") + " starts it with a flag that sets " + key +
                      ", and " + config + " sets the same key",
                  "remove the flag, or the key from " + config + "; `slipway apply` removes a key that slipway wrote");
    return true;
  }
  return false;
}

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
                         "look at " + config + "; `slipway rollback` restores the former one");
  for (const std::string& handler : settings.names) {
    const bool existing = std::ranges::any_of(plugins.items(), [&](const auto& plugin) {
      return at_path(plugin.value(), {"containerd", "runtimes", handler}).is_object();
    });
    if (!existing)
      return findings.fail(name, title + " does not see the runtime class " + handler, "run `slipway apply`");
  }
  const std::string socket = facts.value("socket", "");
  const bool answers = socket_answers(host, socket);
  if (!answers && (host.booting() || starts_later(host, facts.value("unit", ""))))
    return findings.not_exercised(name, title + " has the runtime classes, and systemd starts it later in this boot");
  if (!answers)
    return findings.fail(name, title + " has the runtime classes, but does not answer at " + socket,
                         where_to_look(facts));
  findings.pass(name, title + " has the runtime classes that were asked for" +
                          (cri_works(host, program, socket) ? ", and its CRI plugin is loaded" : ""));
}

void verify_answers(const std::string& name, const Json& facts, const Host& host, Findings& findings) {
  const std::string socket = facts.value("socket", "");
  if (socket.empty()) return findings.not_exercised(name, "this engine has no daemon to ask");
  if (socket_answers(host, socket)) return findings.pass(name, "it answers at " + socket);
  if (facts.value("snap", false))
    return findings.not_exercised(name,
                                  "Docker is installed as a snap and does not run; slipway does not change snaps");
  if (host.booting() || starts_later(host, facts.value("unit", "")))
    return findings.not_exercised(name, "systemd starts it later in this boot");
  findings.fail(name, "it does not answer at " + socket, where_to_look(facts));
}

}  // namespace slipway::toolkit
