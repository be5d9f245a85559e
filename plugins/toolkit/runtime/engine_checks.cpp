// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/engine_checks.hpp"

#include <sstream>
#include <thread>

#include <slipway/action/triggers.hpp>
#include <slipway/service/unit_state.hpp>
#include <slipway/text.hpp>

#include "toolkit/environment.hpp"
#include "toolkit/runtime/daemon.hpp"
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

constexpr std::chrono::seconds kToolLimit{30};
constexpr std::chrono::seconds kAnswerLimit{60};
constexpr std::chrono::milliseconds kLookEvery{250};
constexpr std::size_t kMaxReasonBytes = 2000;

using Words = std::vector<std::string>;

Words words(const Json& data, const char* member) { return data.value(member, Words{}); }

/// Returns the tool's command that prints the effective configuration.
std::vector<std::string> question(const Json& data, const Host& host) {
  const std::string program = data.value("program", "");
  const std::string config = data.value("config", "");
  std::vector<std::string> argv{program};
  const auto arguments = words(data, "arguments");
  if (data.value("tool", "") == "containerd") {
    if (host.exists(config)) argv.insert(argv.end(), {"--config", config});
    argv.insert(argv.end(), {"config", "dump"});
  } else if (data.value("tool", "") == "crio") {
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    argv.emplace_back("config");
  } else {
    argv.insert(argv.end(), {"--validate", "--config-file", config});
    argv.insert(argv.end(), arguments.begin(), arguments.end());
  }
  return argv;
}

/// Returns those of slipway's handlers that the changed file has: a user may have removed one since.
Words handlers_in_file(const Json& data, const Host& host) {
  const auto text = host.read(data.value("path", ""));
  const auto file = text ? parse_toml(*text, data.value("path", "")) : Result<Json>(Json(nullptr));
  Words path = words(data, "plugin");
  path.insert(path.end(), {"containerd", "runtimes"});
  const Json runtimes = file ? at_path(*file, path) : Json(nullptr);
  Words names = words(data, "names");
  std::erase_if(names, [&](const std::string& name) { return !runtimes.is_object() || !runtimes.contains(name); });
  return names;
}

/// Returns the problem in containerd's full configuration dump; empty: none. The dump also has settings that containerd
/// would not load.
std::string objection(const std::string& dump, const std::vector<std::string>& names) {
  const auto config = parse_toml(dump, "containerd config dump");
  const Json plugins = config ? at_path(*config, {"plugins"}) : Json(nullptr);
  bool seen = names.empty();
  if (!plugins.is_object()) return "its output cannot be read";
  for (const auto& [key, plugin] : plugins.items()) {
    const Json runtimes = at_path(plugin, {"containerd", "runtimes"});
    const Json named = at_path(plugin, {"containerd", "default_runtime_name"});
    if (!runtimes.is_object()) continue;
    const std::string chosen = named.is_string() ? named.get<std::string>() : "";
    if (!chosen.empty() && !runtimes.contains(chosen))
      return "its default handler " + chosen + " is not one of its handlers";
    seen = seen || std::ranges::all_of(names, [&](const std::string& name) { return runtimes.contains(name); });
  }
  return seen ? "" : "it does not read the file that the handlers are in";
}

/// Returns the engine's error about its configuration; empty: none.
Result<std::string> refusal(const Json& data, const Host& host) {
  if (data.value("tool", "") == "docker" && !host.exists(data.value("config", ""))) return std::string();
  auto output = host.run(question(data, host), kToolLimit);
  if (!output) return std::move(output).error();
  if (output->exit_status == 0 && data.value("tool", "") != "containerd") return std::string();
  if (output->exit_status == 0) return objection(output->output, handlers_in_file(data, host));
  std::string reason = output->errors.empty() ? output->output : output->errors;
  while (!reason.empty() && reason.back() == '\n') reason.pop_back();
  if (reason.size() > kMaxReasonBytes) reason.erase(0, reason.size() - kMaxReasonBytes);
  return reason.empty() ? "it ended with status " + std::to_string(output->exit_status) : reason;
}

bool stopped_by_user(const Host& host, const std::string& unit) {
  const auto state = unit_state(host, unit, kToolLimit);
  return state && state->active == "inactive";
}

std::string socket_of(const Json& data) { return data.value("socket", ""); }

/// True when it runs and works; an engine that is not meant to run is ignored.
bool answers(const Json& data, const Host& host) {
  if (!socket_answers(host, socket_of(data)))
    return !host.exists(socket_of(data)) || stopped_by_user(host, data.value("unit", ""));
  return !data.value("cri", false) || cri_works(host, data.value("program", ""), socket_of(data));
}

Error no_answer(const Json& data, const Host& host) {
  const std::string title = data.value("title", "");
  const std::string unit = data.value("unit", "");
  const bool up = socket_answers(host, socket_of(data));
  return Error{up ? ErrorCode::io : ErrorCode::timed_out,
               up ? title + " runs, but does not load its CRI plugin with this configuration"
                  : title + " does not answer at " + socket_of(data) + " with this configuration",
               data.value("config", ""),
               "look at `journalctl -u " + unit + "`; the former configuration is restored",
               {}};
}

}  // namespace

void EngineChecks::add_config_check(const std::string& tool, Plan& plan, const Json& more) const {
  if (!live_) return;
  Json data{{"check", "config"},
            {"tool", tool},
            {"title", title_},
            {"program", facts_.value("program", "")},
            {"arguments", words(facts_, "arguments")},
            {"config", facts_.value("config", "")}};
  data.update(more);
  plan.add(action::custom({.name = title_ + " takes its configuration",
                           .data = data,
                           .inverse = nullptr,
                           .irreversible = "it changes nothing"}))
      .because("the engine checks its new configuration before " + title_ + " is restarted");
}

std::string EngineChecks::why_not_restarted() const {
  if (!settings_.restart) return "restart: false";
  if (settings_.no_systemd) return "this machine does not run systemd";
  return facts_.value("unit", "").empty() ? "it runs outside of any unit of systemd" : "";
}

void EngineChecks::restart_after(Action& change, const std::string& reason) const {
  change.because(reason);
  if (why_not_restarted().empty()) change.triggers({action::restart(facts_.value("unit", ""))});
}

void EngineChecks::add_answer_check(Plan& plan) const {
  if (const std::string why = why_not_restarted(); !why.empty())
    return plan.note(title_ + " is not restarted (" + why + "): the change takes effect at its next start" +
                     (settings_.restart ? "; restart it yourself" : ""));
  if (!live_) return;
  plan.add(action::custom({.name = title_ + " answers",
                           .data = {{"check", "answers"},
                                    {"title", title_},
                                    {"program", facts_.value("program", "")},
                                    {"config", facts_.value("config", "")},
                                    {"socket", facts_.value("socket", "")},
                                    {"unit", facts_.value("unit", "")},
                                    {"cri", facts_.value("cri_works", false)}},
                           .inverse = nullptr,
                           .irreversible = "it changes nothing"}))
      .because("slipway checks this after " + title_ + " has been restarted");
}

Result<bool> check_engine(const Action& action, const Host& host) {
  const Json data = action.value("data");
  if (!host.live()) return true;
  if (data.value("check", "") == "answers") return answers(data, host);
  SLIPWAY_TRY(reason, refusal(data, host));
  return reason.empty();
}

Result<Outcome> expect_engine(const Action& action, const Host& host) {
  const Json data = action.value("data");
  if (data.value("check", "") == "config") {
    SLIPWAY_TRY(reason, refusal(data, host));
    if (reason.empty()) return Outcome::already_done();
    return Error{ErrorCode::invalid,
                 data.value("title", "") + " refuses its configuration: " + reason,
                 data.value("config", ""),
                 "correct the setting that the error names; the engine was not restarted",
                 {}};
  }
  const auto deadline = std::chrono::steady_clock::now() + kAnswerLimit;
  while (!answers(data, host)) {
    if (std::chrono::steady_clock::now() >= deadline) return no_answer(data, host);
    std::this_thread::sleep_for(kLookEvery);
  }
  return Outcome::done();
}

bool cri_works(const Host& host, const std::string& program, const std::string& socket) {
  if (!host.live() || program.empty() || !socket_answers(host, socket)) return false;
  const std::string client = folder_of(program) + "/ctr";
  if (!host.exists(client)) return false;
  const auto output = host.run({client, "--address", socket, "plugins", "ls"}, kToolLimit);
  bool loaded = false;
  for (const std::string& line : lines_of(output && output->exit_status == 0 ? output->output : "")) {
    std::istringstream fields(line);
    std::string type;
    std::string name;
    std::string platforms;
    std::string status;
    fields >> type >> name >> platforms >> status;
    // Version 3 of the configuration splits the plugin (io.containerd.cri.v1 runtime, images).
    if (!(type == "io.containerd.grpc.v1" && name == "cri") && type != "io.containerd.cri.v1") continue;
    if (status != "ok") return false;
    loaded = true;
  }
  return loaded;
}

}  // namespace slipway::toolkit
