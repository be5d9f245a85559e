// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <stdexcept>

#include <slipway/action.hpp>

#include "src/text/read.hpp"

namespace slipway {

std::string Action::text(std::string_view member) const { return detail::text_at(value_, member); }

Json Action::value(std::string_view member) const { return detail::value_or_null(detail::member(value_, member)); }

Action& Action::triggers(const std::vector<std::string>& names) {
  value_["triggers"] = names;
  return *this;
}

Action& Action::because(std::string reason) {
  value_["because"] = std::move(reason);
  return *this;
}

Result<std::string> normal_path(std::string_view path) {
  const auto refused = [&](const std::string& why, const std::string& next) {
    return Error{ErrorCode::invalid, "the path '" + std::string(path) + "' " + why, std::string(path), next, {}};
  };
  if (!path.starts_with('/')) {
    const auto whole = normal_path("/" + std::string(path));
    return refused("is not absolute", "write it as an absolute path" + (whole ? ": " + *whole : std::string()));
  }
  if (std::any_of(path.begin(), path.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }))
    return refused("has a control character in it", "leave that out");
  std::string normal;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at + 1), path.size());
    const std::string_view part = path.substr(at + 1, end - at - 1);
    if (part == "..") return refused("has '..' in it", "write the path that is meant, without '..'");
    if (!part.empty() && part != ".") (normal += '/') += part;
    at = end;
  }
  if (normal.empty()) return refused("is the root itself", "name a path below the root");
  return normal;
}

Result<Action> with_normal_path(Action action) {
  constexpr std::array<std::string_view, 7> kOfPaths{"file",         "directory", "symlink",    "remove",
                                                     "service-file", "merge",     "device-node"};
  if (std::find(kOfPaths.begin(), kOfPaths.end(), action.kind()) == kOfPaths.end()) return action;
  SLIPWAY_TRY(path, normal_path(action.target()));
  if (path == action.target()) return action;
  Json value = action.json();
  value["target"] = std::move(path);
  return Action(std::move(value));
}

namespace action {
namespace {

Action make(std::string_view kind, std::string target, Json members = Json::object()) {
  members["kind"] = kind;
  members["target"] = std::move(target);
  auto made = with_normal_path(Action(std::move(members)));
  if (!made) throw std::invalid_argument("the action '" + std::string(kind) + "': " + made.error().what);
  return std::move(*made);
}

Json to_json(const Build::Collect& desired) {
  Json value{{"from", desired.from}, {"to", desired.to}};
  if (desired.strip) value["strip"] = true;
  if (!desired.sign_key.empty()) value["sign_key"] = desired.sign_key;
  if (!desired.sign_cert.empty()) value["sign_cert"] = desired.sign_cert;
  if (!desired.compress.empty()) value["compress"] = desired.compress;
  return value;
}

}  // namespace

Action file(const File& desired) {
  return make("file", desired.path,
              {{"content", desired.content},
               {"mode", desired.mode},
               {"owner", desired.owner},
               {"group", desired.group},
               {"on_drift", desired.on_drift}});
}

Action directory(std::string path, unsigned mode) { return make("directory", std::move(path), {{"mode", mode}}); }

Action symlink(std::string path, std::string points_to) {
  return make("symlink", std::move(path), {{"points_to", std::move(points_to)}});
}

Action remove(std::string path) { return make("remove", std::move(path)); }

Action service_file(std::string path) { return make("service-file", std::move(path)); }

Action merge(const Merge& desired) {
  return make("merge", desired.path, {{"format", desired.format}, {"set", desired.set}});
}

Action unpack(const Unpack& desired) {
  Json layers = Json::array();
  for (const Layer& layer : desired.layers) {
    Json value{
        {"as", layer.as}, {"source", layer.source}, {"descriptor", layer.descriptor}, {"manifest", layer.manifest}};
    if (!layer.build.is_null()) value["build"] = layer.build;
    layers.push_back(std::move(value));
  }
  Json members{{"layers", std::move(layers)}};
  if (!desired.check.is_null()) members["check"] = desired.check;
  return make("unpack", desired.name, std::move(members));
}

Json to_json(const Build& build) {
  Json collect = Json::array();
  for (const Build::Collect& desired : build.collect) collect.push_back(to_json(desired));
  return Json{{"name", build.name},
              {"directory", build.directory},
              {"argv", build.argv},
              {"environment", build.environment},
              {"needs", build.needs},
              {"needs_hint", build.needs_hint},
              {"collect", std::move(collect)},
              {"identity", build.identity}};
}

Action kernel_module(std::string name, std::vector<std::string> parameters, std::string version) {
  Json members{{"parameters", std::move(parameters)}};
  if (!version.empty()) members["version"] = std::move(version);
  return make("kernel-module", std::move(name), std::move(members));
}

Action systemd_unit(const SystemdUnit& desired) {
  return make("systemd-unit", desired.name,
              {{"content", desired.content}, {"enabled", desired.enabled}, {"started", desired.started}});
}

Action device_node(const DeviceNode& desired) {
  Json members{{"minor", desired.minor}, {"mode", desired.mode}};
  if (desired.major_of.empty())
    members["major"] = desired.major;
  else
    members["major_of"] = desired.major_of;
  if (desired.owner != "root") members["owner"] = desired.owner;
  if (desired.group != "root") members["group"] = desired.group;
  return make("device-node", desired.path, std::move(members));
}

Action exec(const Exec& desired) {
  return make("exec", desired.name, {{"argv", desired.argv}, {"check", desired.check}, {"undo", desired.undo}});
}

Action custom(const Custom& desired) {
  Json members{{"data", desired.data}};
  if (!desired.inverse.is_null()) members["inverse"] = desired.inverse;
  if (!desired.irreversible.empty()) members["irreversible"] = desired.irreversible;
  if (!desired.summary.empty()) members["summary"] = desired.summary;
  if (desired.stays) members["stays"] = true;
  if (!desired.on_removal.is_null()) members["on_removal"] = desired.on_removal;
  if (!desired.removal_summary.empty()) members["removal_summary"] = desired.removal_summary;
  if (desired.lost_at_boot) members["lost_at_boot"] = true;
  if (!desired.exclusives.empty()) members["exclusives"] = desired.exclusives;
  if (desired.quiesces_services) members["quiesces_services"] = true;
  if (desired.before_switch) members["before_switch"] = true;
  if (desired.is_step) members["is_step"] = true;
  if (!desired.on_failure.is_null()) members["on_failure"] = desired.on_failure;
  if (!desired.interrupts.empty()) members["interrupts"] = desired.interrupts;
  return make("custom", desired.name, std::move(members));
}

}  // namespace action
}  // namespace slipway
