// SPDX-License-Identifier: Apache-2.0
#include <slipway/action.hpp>

#include "src/text/json_read.hpp"

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

namespace action {
namespace {

Action make(std::string_view kind, std::string target, Json members = Json::object()) {
  members["kind"] = kind;
  members["target"] = std::move(target);
  return Action(std::move(members));
}

Json to_json(const Build::Collect& wish) {
  Json value{{"from", wish.from}, {"to", wish.to}};
  if (wish.strip) value["strip"] = true;
  if (!wish.sign_key.empty()) value["sign_key"] = wish.sign_key;
  if (!wish.sign_cert.empty()) value["sign_cert"] = wish.sign_cert;
  if (!wish.compress.empty()) value["compress"] = wish.compress;
  return value;
}

}  // namespace

Action file(const File& wish) {
  return make("file", wish.path,
              {{"content", wish.content},
               {"mode", wish.mode},
               {"owner", wish.owner},
               {"group", wish.group},
               {"on_drift", wish.on_drift}});
}

Action directory(std::string path, unsigned mode) { return make("directory", std::move(path), {{"mode", mode}}); }

Action symlink(std::string path, std::string points_to) {
  return make("symlink", std::move(path), {{"points_to", std::move(points_to)}});
}

Action remove(std::string path) { return make("remove", std::move(path)); }

Action service_file(std::string path) { return make("service-file", std::move(path)); }

Action merge(const Merge& wish) { return make("merge", wish.path, {{"format", wish.format}, {"set", wish.set}}); }

Action unpack(const Unpack& wish) {
  Json layers = Json::array();
  for (const Layer& layer : wish.layers) {
    Json value{
        {"as", layer.as}, {"source", layer.source}, {"descriptor", layer.descriptor}, {"manifest", layer.manifest}};
    if (!layer.build.is_null()) value["build"] = layer.build;
    layers.push_back(std::move(value));
  }
  return make("unpack", wish.name, {{"layers", std::move(layers)}});
}

Json to_json(const Build& build) {
  Json collect = Json::array();
  for (const Build::Collect& wish : build.collect) collect.push_back(to_json(wish));
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

Action systemd_unit(const SystemdUnit& wish) {
  return make("systemd-unit", wish.name,
              {{"content", wish.content}, {"enabled", wish.enabled}, {"started", wish.started}});
}

Action device_node(const DeviceNode& wish) {
  Json members{{"minor", wish.minor}, {"mode", wish.mode}};
  if (wish.major_of.empty())
    members["major"] = wish.major;
  else
    members["major_of"] = wish.major_of;
  return make("device-node", wish.path, std::move(members));
}

Action exec(const Exec& wish) {
  return make("exec", wish.name, {{"argv", wish.argv}, {"check", wish.check}, {"undo", wish.undo}});
}

Action custom(const Custom& wish) {
  Json members{{"data", wish.data}};
  if (!wish.inverse.is_null()) members["inverse"] = wish.inverse;
  if (!wish.irreversible.empty()) members["irreversible"] = wish.irreversible;
  return make("custom", wish.name, std::move(members));
}

}  // namespace action
}  // namespace slipway
