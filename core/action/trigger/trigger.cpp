// SPDX-License-Identifier: Apache-2.0
#include "core/action/trigger/trigger.hpp"

#include <algorithm>
#include <array>

#include "core/action/trigger/triggers.hpp"

namespace slipway::core {
namespace {

/// The properties of one kind of trigger.
struct TriggerKind {
  Trigger::Kind kind;
  std::string_view word;
  bool has_argument;
  Result<Prospect> (*foresee)(const std::string& argument, const Host& host);
  Result<TriggerRun> (*run)(const std::string& argument, ActionContext& context);
};

using Kind = Trigger::Kind;
constexpr std::array kTriggerKinds{
    TriggerKind{Kind::sysusers, "sysusers", false, &foresee_sysusers, &run_sysusers},
    TriggerKind{Kind::udev, "udev", true, &foresee_udev, &run_udev},
    TriggerKind{Kind::ldconfig, "ldconfig", false, &foresee_ldconfig, &run_ldconfig},
    TriggerKind{Kind::depmod, "depmod", true, &foresee_depmod, &run_depmod},
    TriggerKind{Kind::initramfs, "initramfs", true, &foresee_initramfs, &run_initramfs},
    TriggerKind{Kind::daemon_reload, "daemon-reload", false, &foresee_systemd, &run_daemon_reload},
    TriggerKind{Kind::restart, "restart", true, &foresee_systemd, &run_restart},
    TriggerKind{Kind::reload, "reload", true, &foresee_systemd, &run_reload},
};

const TriggerKind& properties_of(Kind kind) {
  return *std::ranges::find(kTriggerKinds, kind, &TriggerKind::kind);  // callers only pass known kinds
}

/// True for a kernel release or unit name: never an option, never a path.
bool is_plain_name(const std::string& argument) {
  return !argument.empty() && argument[0] != '-' && argument[0] != '.' &&
         argument.find_first_of("/ \t\n\"'\\;&|$`") == std::string::npos;
}

}  // namespace

Trigger::Trigger(const std::string& text) : argument(text) {
  const std::size_t colon = text.find(':');
  const std::string after = colon == std::string::npos ? "" : text.substr(colon + 1);
  for (const TriggerKind& each : kTriggerKinds) {
    if (each.has_argument ? text.substr(0, colon) != each.word || !is_plain_name(after) : text != each.word) continue;
    kind = each.kind;
    argument = after;
  }
}

std::string Trigger::text() const {
  if (kind == Kind::unknown) return argument;
  const TriggerKind& own = properties_of(kind);
  return std::string(own.word) + (own.has_argument ? ":" + argument : "");
}

Status Trigger::check() const {
  if (kind != Kind::unknown) return {};
  return Error{
      ErrorCode::invalid,
      "'" + argument +
          "' is not a trigger; the triggers are sysusers, udev:SUBSYSTEM, ldconfig, depmod:RELEASE, initramfs:RELEASE, "
          "daemon-reload, restart:UNIT "
          "and reload:UNIT",
      argument,
      "this is a defect of the component that planned it; report it to its authors",
      {}};
}

bool Trigger::precedes_activation() const {
  return kind == Kind::ldconfig || kind == Kind::daemon_reload || kind == Kind::depmod || kind == Kind::sysusers ||
         kind == Kind::udev;
}

Result<Prospect> Trigger::foresee(const Host& host) const {
  SLIPWAY_CHECK(check());
  return properties_of(kind).foresee(argument, host);
}

Result<TriggerRun> Trigger::run(ActionContext& context) const {
  SLIPWAY_CHECK(check());
  return properties_of(kind).run(argument, context);
}

std::vector<std::string> Trigger::products(const Host& host) const {
  if (kind == Kind::depmod) return depmod_products(argument);
  if (kind != Kind::ldconfig) return {};
  std::vector<std::string> files{"/etc/ld.so.cache"};
  if (host.live()) files.emplace_back("/var/cache/ldconfig/aux-cache");
  return files;
}

std::vector<Trigger> triggers_of(const Action& action) {
  std::vector<Trigger> triggers;
  for (const Json& text : action.value("triggers")) triggers.emplace_back(text.get<std::string>());
  return triggers;
}

std::vector<std::string> texts_of(const std::vector<Trigger>& triggers) {
  std::vector<std::string> texts;
  for (const Trigger& trigger : triggers) texts.push_back(trigger.text());
  return texts;
}

}  // namespace slipway::core
