// SPDX-License-Identifier: Apache-2.0
// core/action/file/device_node.cpp - kind `device-node`: a character device in /dev, and /dev/char/MAJOR:MINOR -> it.
//
// The rules are those of vendors' own helpers: a node of the right type and number is left alone except for its mode, a
// wrong one is made again, and the link is made in any case, since the device cgroup of a container finds devices by
// it.
#include <optional>

#include "core/action/action_kind.hpp"
#include "core/action/file/plain_file.hpp"

namespace slipway::core {
namespace {

struct Node {
  std::string path;
  std::optional<unsigned> major;  ///< empty while the driver that has it is not loaded
  std::string major_of;
  unsigned minor = 0;
  unsigned mode = 0666;
  std::optional<Error> no_owner;  ///< its user or group does not exist; a trigger may create it before it is needed
  std::optional<Owner> owner;     ///< empty: root for a new node, unchanged for an existing one
  std::string owner_names;        ///< "root:render", as in the plan; empty likewise

  std::string number() const { return std::to_string(*major) + ":" + std::to_string(minor); }
};

Result<Node> node_of(const Action& action, const Host& host) {
  Node node{action.target(),
            {},
            action.text("major_of"),
            action.json().value("minor", 0U),
            action.json().value("mode", 0666U),
            {},
            {},
            {}};
  if (!node.path.starts_with("/dev/") || node.path.find("/../") != std::string::npos)
    return Error{ErrorCode::invalid,
                 "the device node " + node.path + " is not below /dev",
                 node.path,
                 "this is a defect of the component that planned the node; report it to the component's authors",
                 {}};
  if (action.json().contains("owner") || action.json().contains("group")) {
    const auto name = [&](const char* member) { return action.json().value(member, "root"); };
    node.owner_names = name("owner") + ":" + name("group");
    const auto owner = find_owner(host, action.text("owner"), action.text("group"));
    if (owner)
      node.owner = *owner;
    else
      node.no_owner = owner.error();
  }
  node.major = node.major_of.empty() ? action.json().value("major", 0U) : host.character_major(node.major_of);
  return node;
}

std::string link_path(unsigned major, unsigned minor) {
  return "/dev/char/" + std::to_string(major) + ":" + std::to_string(minor);
}

/// "../acme0", "../acme-caps/acme-cap1": the form that udev writes.
std::string link_target(const std::string& path) { return ".." + path.substr(std::string_view("/dev").size()); }

bool right_device(const Node& node, const PathState& now) {
  return node.major && now.is(FileInfo::Type::character_device) && now.info.device_major == *node.major &&
         now.info.device_minor == node.minor;
}

bool right_access(const Node& node, const PathState& now) {
  return !node.no_owner && now.info.mode == node.mode &&
         (!node.owner || *node.owner == Owner{now.info.uid, now.info.gid});
}

bool link_right(const Host& host, const Node& node) {
  const auto target = host.read_link(link_path(*node.major, node.minor));
  return target && *target == link_target(node.path);
}

std::string summary_of(const Node& node, const PathState& now) {
  const std::string number = node.major ? node.number() : node.major_of + "'s major:" + std::to_string(node.minor);
  if (right_device(node, now) && !right_access(node, now)) {
    const bool other_mode = now.info.mode != node.mode;
    const bool other_owner = node.no_owner || (node.owner && *node.owner != Owner{now.info.uid, now.info.gid});
    return (other_owner ? "give " + node.path + " to " + node.owner_names : "set " + node.path + " to") +
           (other_owner && other_mode ? ", and set it to" : "") +
           (other_mode ? " mode " + octal(node.mode) + " (was " + octal(now.info.mode) + ")" : "");
  }
  if (right_device(node, now)) return "link " + link_path(*node.major, node.minor) + " -> " + link_target(node.path);
  return (now.absent ? "create " : "replace ") + node.path + " (character device " + number + ", " + octal(node.mode) +
         ")";
}

class DeviceNodeKind final : public ActionKind {
 public:
  Phase phase() const override { return Phase::activate; }
  bool is_lost_at_boot() const override { return true; }

  Result<Check> check(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(node, node_of(action, context.host));
    SLIPWAY_TRY(now, look_at(context.host, node.path, false));
    if (now.is(FileInfo::Type::directory))
      return Check::conflict(summary_of(node, now), in_the_way(node.path, now.info.type, "a device node"));
    if (right_device(node, now) && right_access(node, now) && link_right(context.host, node))
      return Check::satisfied(node.path);
    return Check{
        context.host.live() ? Check::Standing::change : Check::Standing::at_boot, summary_of(node, now), {}, {}};
  }

  Result<Image> capture(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(node, node_of(action, context.host));
    SLIPWAY_TRY(image, context.root.capture(node.path));
    Image captured{{"node", image}};
    if (!node.major) return captured;
    SLIPWAY_TRY(link, context.root.capture(link_path(*node.major, node.minor)));
    captured["link"] = link;
    return captured;
  }

  std::vector<std::pair<std::string, Image*>> paths(const Action& action, Image& image) const override {
    return {{action.target(), &image["node"]}};
  }

  Result<Outcome> perform(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(node, node_of(action, context.host));
    if (!context.host.live())
      return Error{ErrorCode::offline, node.path + " can only be made on the live machine", node.path, {}, {}};
    if (!node.major)
      return Error{ErrorCode::not_found,
                   node.path + " cannot be made: no loaded driver is called '" + node.major_of + "' in /proc/devices",
                   node.path,
                   "load the kernel module that registers it",
                   {}};
    if (node.no_owner) return *node.no_owner;
    SLIPWAY_TRY(now, look_at(context.host, node.path, false));
    if (!right_device(node, now) || !right_access(node, now)) {
      if (now.is(FileInfo::Type::directory)) return in_the_way(node.path, now.info.type, "a device node");
      const Owner owner = node.owner.value_or(right_device(node, now) ? Owner{now.info.uid, now.info.gid} : Owner{});
      SLIPWAY_CHECK(context.root.make_node(node.path, true, *node.major, node.minor, node.mode, owner.uid, owner.gid));
    }
    if (link_right(context.host, node)) return Outcome::done();
    const std::string link = link_path(*node.major, node.minor);
    SLIPWAY_CHECK(context.root.stage_symlink(link, link_target(node.path)));
    SLIPWAY_CHECK(context.root.switch_in(link));
    return Outcome::done();
  }

  Status restore(const Action& action, const Image& image, ActionContext& context) const override {
    if (!context.host.live()) return {};
    SLIPWAY_TRY(now, look_at(context.host, action.target(), false));
    if (now.is(FileInfo::Type::character_device)) {
      const std::string link = link_path(now.info.device_major, now.info.device_minor);
      const auto target = context.host.read_link(link);
      const bool ours = target && *target == link_target(action.target());
      if (ours) SLIPWAY_CHECK(context.root.restore(link, image.value("link", to_json(PathImage{"absent"}))));
    }
    return context.root.restore(action.target(), image.value("node", to_json(PathImage{"absent"})));
  }
};

}  // namespace

const ActionKind& device_node_kind() {
  static const DeviceNodeKind kind;
  return kind;
}

}  // namespace slipway::core
