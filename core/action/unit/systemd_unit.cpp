// SPDX-License-Identifier: Apache-2.0
// core/action/unit/systemd_unit.cpp - kind `systemd-unit`: a unit that is enabled and, on a running machine, started.
//
// Slipway itself makes the links of an enabled unit, the same in every root. systemd only reloads, starts and stops
// units.
#include <algorithm>

#include <slipway/text.hpp>

#include "core/action/action_kind.hpp"
#include "core/action/file/plain_file.hpp"
#include "core/action/systemd/systemd.hpp"
#include "core/action/trigger/trigger.hpp"
#include "core/action/unit/unit_file.hpp"

namespace slipway::core {
namespace {

using Standing = Check::Standing;
using Links = std::map<std::string, std::string>;

/// The desired state of the unit, and its differences from the present one.
struct Unit {
  std::string name;
  std::string file;     ///< path of its file; empty when the root has none yet
  bool writes = false;  ///< the action provides the file's content
  PlainFile desired;    ///< valid when it does
  bool enabled = true;
  bool started = true;
  bool stopped = false;  ///< it must not run, because another service replaces it
  Links links;           ///< the links of an enabled unit

  Check file_check;                  ///< satisfied when the action provides no file
  std::vector<std::string> missing;  ///< links to create
  std::vector<std::string> surplus;  ///< links to remove
  bool live = false;                 ///< there is a running systemd
  UnitState state;                   ///< when live
};

/// True when the unit does not have to be started.
bool runs(const UnitState& state) { return state.running() || state.has_run || state.queued || state.skipped; }

/// True when the unit runs and must not. A unit that is about to be restarted counts as running.
bool stops_now(const Unit& unit) {
  return unit.live && unit.stopped && !unit.state.active.empty() && unit.state.active != "inactive" &&
         unit.state.active != "failed";
}

/// Only the link's name matters: systemd looks at nothing else.
bool link_there(const Host& host, const std::string& path) { return host.read_link(path).ok(); }

std::vector<std::string> former_links(const Json& record) {
  return record.is_object() ? record.value("links", std::vector<std::string>{}) : std::vector<std::string>{};
}

Result<Unit> look(const Action& action, const ActionContext& context) {
  const Host& host = context.host;
  Unit unit;
  unit.name = action.target();
  if (unit.name.empty() || unit.name.find('/') != std::string::npos || unit.name.find('.') == std::string::npos)
    return Error{ErrorCode::invalid, "'" + unit.name + "' is not a name of a unit", unit.name, {}, {}};
  unit.writes = !action.text("content").empty();
  unit.enabled = action.json().value("enabled", true);
  unit.started = action.json().value("started", true);
  unit.stopped = action.json().value("stopped", false);
  unit.file =
      unit.writes ? std::string(kUnitFolder) + "/" + unit_file_name(unit.name) : find_unit_file(host, unit.name);
  std::string content = action.text("content");
  if (unit.writes) {
    SLIPWAY_TRY(owner, find_owner(host, "root", "root"));
    unit.desired = PlainFile{unit.file, content, 0644, owner.uid, owner.gid, false};
    SLIPWAY_TRY(now, look_at(host, unit.file, true));
    const Json record = context.record.is_object() ? context.record.value("file", Json()) : Json();
    unit.file_check = judge(unit.desired, now, record);
  } else {
    unit.file_check.standing = Standing::satisfied;
    if (!unit.file.empty()) content = host.read(unit.file).value_or("");
  }
  unit.links = enablement_links(host, unit.name, unit.file, content);
  for (const auto& [path, target] : unit.links) {
    if (unit.enabled && !link_there(host, path)) unit.missing.push_back(path);
    if (!unit.enabled && link_there(host, path)) unit.surplus.push_back(path);
  }
  for (const std::string& path : former_links(context.record))
    if (!unit.links.contains(path) && link_there(host, path)) unit.surplus.push_back(path);
  unit.live = has_systemd(host);
  if (unit.live) {
    SLIPWAY_TRY(state, unit_state(host, unit.name));
    unit.state = state;
  }
  return unit;
}

std::string summary_of(const Unit& unit) {
  std::vector<std::string> parts;
  if (unit.file_check.standing == Standing::change || unit.file_check.edit) parts.push_back(unit.file_check.summary);
  if (!unit.missing.empty()) parts.push_back("enable " + unit.name);
  if (!unit.surplus.empty()) parts.push_back(unit.enabled ? "remove links of " + unit.name : "disable " + unit.name);
  if (unit.started && !(unit.live && runs(unit.state))) parts.push_back("start " + unit.name);
  if (stops_now(unit)) parts.push_back("stop " + unit.name);
  if (unit.live && unit.state.needs_daemon_reload) parts.emplace_back("reload systemd");
  return parts.empty() ? unit.name : joined(parts);
}

Error masked(const std::string& unit) {
  return Error{ErrorCode::conflict,
               unit + " is masked, so it can be neither enabled nor started",
               unit,
               "systemctl unmask " + unit,
               {}};
}

Check check_of(const Unit& unit, const Host& host) {
  Check check;
  check.summary = summary_of(unit);
  check.diff = unit.file_check.diff;
  check.edit = unit.file_check.edit;
  const bool file_changes = unit.file_check.standing == Standing::change;
  const bool links_change = !unit.missing.empty() || !unit.surplus.empty();
  const bool live_change =
      stops_now(unit) || (unit.live && ((unit.started && !runs(unit.state)) || unit.state.needs_daemon_reload));
  if ((unit.enabled || unit.started) && unit_masked(host, unit.name)) {
    check.standing = Standing::conflict;
    check.problem = masked(unit.name);
  } else if (unit.file_check.standing == Standing::conflict) {
    check.standing = Standing::conflict;
    check.problem = unit.file_check.problem;
  } else if (file_changes || links_change || live_change || unit.file.empty()) {
    check.standing = Standing::change;
  } else if (unit.file_check.standing == Standing::drift_kept) {
    check.standing = Standing::drift_kept;
    check.summary = unit.file_check.summary;
  } else {
    check.standing = unit.started && !unit.enabled && !unit.live ? Standing::at_boot : Standing::satisfied;
  }
  return check;
}

Status make_link(RootFs& root, const std::string& path, const std::string& target) {
  SLIPWAY_CHECK(root.stage_symlink(path, target));
  return root.switch_in(path);
}

class SystemdUnitKind final : public ActionKind {
 public:
  Phase phase() const override { return Phase::activate; }

  std::string starts(const Action& action) const override {
    return action.json().value("started", true) ? action.target() : "";
  }

  Result<Check> check(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(unit, look(action, context));
    return check_of(unit, context.host);
  }

  Result<Image> capture(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(unit, look(action, context));
    Image image{{"links", Json::object()}};
    if (unit.writes) {
      SLIPWAY_TRY(file, context.root.capture(unit.file));
      image["file"] = file;
    }
    for (const auto& [path, target] : unit.links) {
      SLIPWAY_TRY(link, context.root.capture(path));
      image["links"][path] = link;
    }
    for (const std::string& path : unit.surplus) {
      SLIPWAY_TRY(link, context.root.capture(path));
      image["links"][path] = link;
    }
    if (unit.live) image["active"] = unit.state.running();
    return image;
  }

  std::vector<std::pair<std::string, Image*>> paths(const Action& action, Image& image) const override {
    std::vector<std::pair<std::string, Image*>> paths;
    if (image.contains("file")) paths.emplace_back(unit_path(action), &image["file"]);
    for (const auto& [path, link] : image["links"].items()) paths.emplace_back(path, &link);
    return paths;
  }

  Image join(const Image& first, const Image& later) const override {
    Image joined = first;
    const Json links = later.value("links", Json::object());
    for (const auto& [path, link] : links.items())
      if (!joined["links"].contains(path)) joined["links"][path] = link;
    return joined;
  }

  /// Returns the image for a unit file of slipway's own; another unit may have been enabled before.
  Image without_original(const Image& image) const override {
    if (!image.contains("file")) return image;
    Json links = image.value("links", Json::object());
    for (Json& link : links) link = to_json(PathImage{"absent"});
    return {{"file", to_json(PathImage{"absent"})}, {"links", std::move(links)}};
  }

  Status stage(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(unit, look(action, context));
    if (unit.file_check.standing != Standing::change) return {};
    return context.root.stage_file(unit.file, unit.desired.content, unit.desired.mode, unit.desired.uid,
                                   unit.desired.gid);
  }

  Status unstage(const Action& action, ActionContext& context) const override {
    return context.root.unstage(unit_path(action));
  }

  Result<Outcome> perform(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(unit, look(action, context));
    if (unit.file.empty())
      return Error{ErrorCode::not_found,
                   "there is no unit " + unit.name + " in this root",
                   unit.name,
                   "install the package that has this unit",
                   {}};
    if ((unit.enabled || unit.started) && unit_masked(context.host, unit.name)) return masked(unit.name);
    const bool rewritten = unit.file_check.standing == Standing::change;
    if (rewritten) {
      if (!context.root.staged(unit.file)) SLIPWAY_CHECK(stage(action, context));
      SLIPWAY_CHECK(context.root.switch_in(unit.file));
    } else {
      SLIPWAY_CHECK(unstage(action, context));
    }
    for (const std::string& path : unit.surplus) SLIPWAY_CHECK(give_up(path, context));
    for (const std::string& path : unit.missing) SLIPWAY_CHECK(make_link(context.root, path, unit.links.at(path)));
    if (unit.live) SLIPWAY_CHECK(bring_up(unit, rewritten, action, context.host));
    return Outcome::done();
  }

  Status restore(const Action& action, const Image& image, ActionContext& context) const override {
    SLIPWAY_TRY(unit, look(action, context));
    const Json file = image.value("file", Json());
    const bool had_file = !is_absent(file);
    if (unit.live && unit.state.running() && stops(image, had_file))
      SLIPWAY_CHECK(systemctl(context.host, "stop", unit.name));
    const Json links = image.value("links", Json::object());
    for (const auto& [path, link] : links.items()) SLIPWAY_CHECK(context.root.restore(path, link));
    SLIPWAY_CHECK(unstage(action, context));
    if (file.is_object()) SLIPWAY_CHECK(context.root.restore(unit_path(action), file));
    if (!unit.live) return {};
    SLIPWAY_CHECK(systemctl(context.host, "daemon-reload", ""));
    if (unit.file.empty()) return {};  // its package was removed meanwhile
    if (!image.value("active", false)) return had_file ? Status{} : forget_failure(unit.name, context.host);
    return systemctl(context.host, unit.writes ? "restart" : "start", unit.name);
  }

  Result<Json> fingerprint(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(unit, look(action, context));
    Json record{{"links", Json::array()}};
    if (unit.writes) {
      SLIPWAY_TRY(now, look_at(context.host, unit.file, true));
      record["file"] = unit.file_check.edit ? context.record["file"] : fingerprint_of(now);
    }
    if (unit.enabled)
      for (const auto& [path, target] : unit.links) record["links"].push_back(path);
    return record;
  }

  void adopt(const Json& edit, Json& record, Image&) const override { record["file"] = edit; }

  /// Claims the unit, and its file when the action provides it.
  std::vector<Claim> claims(const Action& action) const override {
    auto all = ActionKind::claims(action);
    if (!action.text("content").empty()) all.push_back({unit_path(action), {}, false, "file " + unit_path(action)});
    return all;
  }

  Result<bool> drifted(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(unit, look(action, context));
    if (!unit.writes || !context.record.is_object() || !context.record.contains("file")) return false;
    SLIPWAY_TRY(now, look_at(context.host, unit.file, true));
    return !now.absent && fingerprint_of(now) != context.record["file"];
  }

 private:
  /// Returns the path of a unit file that an action provides.
  static std::string unit_path(const Action& action) {
    return std::string(kUnitFolder) + "/" + unit_file_name(action.target());
  }

  /// Restores what was at the path of an earlier action's link.
  static Status give_up(const std::string& path, ActionContext& context) {
    if (context.original.is_object() && context.original.contains("links") && context.original["links"].contains(path))
      return context.root.restore(path, context.original["links"][path]);
    return context.root.remove(path);
  }

  static Status bring_up(const Unit& unit, bool rewritten, const Action& action, const Host& host) {
    const bool changed = rewritten || !unit.missing.empty() || !unit.surplus.empty();
    if (changed || unit.state.needs_daemon_reload) SLIPWAY_CHECK(systemctl(host, "daemon-reload", ""));
    if (stops_now(unit)) return systemctl(host, "stop", unit.name);
    if (!unit.started) return {};
    // slipway-boot.service would wait for a service that is ordered after it.
    if (unit.state.queued) return {};
    const bool restarted_later =
        std::ranges::count(triggers_of(action), Trigger(Trigger::Kind::restart, unit.name)) > 0;
    if (unit.state.active == "failed") SLIPWAY_CHECK(systemctl(host, "reset-failed", unit.name));
    const bool restart = rewritten && unit.state.running() && !restarted_later;
    SLIPWAY_CHECK(systemctl(host, restart ? "restart" : "start", unit.name));
    SLIPWAY_TRY(state, unit_state(host, unit.name));
    return state.has_run ? Status{} : expect_active(host, unit.name);
  }

  /// systemd keeps a failed unit in its lists, even when its file is gone.
  static Status forget_failure(const std::string& name, const Host& host) {
    SLIPWAY_TRY(state, unit_state(host, name));
    return state.active == "failed" ? systemctl(host, "reset-failed", name) : Status{};
  }

  /// True when the unit was probably not running before: it was seen inactive, was not enabled, or did not exist.
  static bool stops(const Image& image, bool had_file) {
    if (image.contains("active")) return !image.value("active", false);
    const Json links = image.value("links", Json::object());
    const bool was_enabled = std::any_of(links.begin(), links.end(), [](const Json& link) { return !is_absent(link); });
    return !had_file || !was_enabled;
  }
};

}  // namespace

const ActionKind& systemd_unit_kind() {
  static const SystemdUnitKind kind;
  return kind;
}

}  // namespace slipway::core
