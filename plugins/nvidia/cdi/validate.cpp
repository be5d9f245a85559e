// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>

#include "nvidia/cdi/text.hpp"

namespace slipway::nvidia::cdi {
namespace {

// In order; a spec needs at least the version that introduced its contents.
constexpr std::array<std::string_view, 8> kVersions{"0.3.0", "0.4.0", "0.5.0", "0.6.0",
                                                    "0.7.0", "0.8.0", "1.0.0", "1.1.0"};
constexpr std::array<std::string_view, 6> kHookNames{"prestart",       "createRuntime", "createContainer",
                                                     "startContainer", "poststart",     "poststop"};
constexpr std::array<std::string_view, 5> kNodeTypes{"", "b", "c", "u", "p"};
constexpr std::size_t kMaxAnnotations = 256 * 1024;  // total bytes of keys and values, as for Kubernetes objects
constexpr std::size_t kMaxAnnotationName = 63;
constexpr std::size_t kMaxClosId = 4096;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_alphanumeric(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

bool only(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text,
                             [&](char c) { return is_alphanumeric(c) || others.find(c) != std::string_view::npos; });
}

bool is_annotation_key(std::string_view key) {
  const auto slash = key.find('/');
  const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  if (slash != std::string_view::npos && (slash == 0 || !only(key.substr(0, slash), "-."))) return false;
  return !name.empty() && name.size() <= kMaxAnnotationName && only(name, "_-.") && is_alphanumeric(name.front()) &&
         is_alphanumeric(name.back());
}

std::string at(const std::string& list, std::size_t index) { return list + "[" + std::to_string(index) + "]"; }
std::string quoted(const std::string& text) { return "'" + text + "'"; }

/// Collects the problems, each with its member.
class Check {
 public:
  void expect(bool holds, const std::string& member, const std::string& what) {
    if (!holds) problems_.push_back(member + ": " + what);
  }

  void annotations(const Annotations& all, const std::string& member) {
    std::size_t size = 0;
    for (const auto& [key, value] : all) {
      size += key.size() + value.size();
      expect(is_annotation_key(key), member, quoted(key) + " is not an annotation key ([PREFIX/]NAME)");
    }
    expect(size <= kMaxAnnotations, member, "the annotations are larger than 256 KiB");
  }

  void edits(const Edits& edits, const std::string& member) {
    for (std::size_t i = 0; i < edits.env.size(); ++i) {
      const auto equals = edits.env[i].find('=');
      expect(equals != std::string::npos && equals != 0, at(member + ".env", i),
             quoted(edits.env[i]) + " is not NAME=value");
    }
    for (std::size_t i = 0; i < edits.device_nodes.size(); ++i)
      device_node(edits.device_nodes[i], at(member + ".deviceNodes", i));
    net_devices(edits, member + ".netDevices");
    for (std::size_t i = 0; i < edits.hooks.size(); ++i) hook(edits.hooks[i], at(member + ".hooks", i));
    for (std::size_t i = 0; i < edits.mounts.size(); ++i) {
      const std::string mount = at(member + ".mounts", i);
      expect(!edits.mounts[i].host_path.empty(), mount + ".hostPath", "is empty");
      expect(!edits.mounts[i].container_path.empty(), mount + ".containerPath", "is empty");
    }
    if (edits.intel_rdt) rdt(*edits.intel_rdt, member + ".intelRdt.closID");
  }

  Status status(const std::string& where) const {
    if (problems_.empty()) return {};
    Error error{ErrorCode::invalid, "the CDI spec breaks a rule: " + problems_.front(), where, {}, {}};
    for (std::size_t i = 1; i < problems_.size(); ++i) error.details.emplace_back("also", problems_[i]);
    return error;
  }

 private:
  void device_node(const DeviceNode& node, const std::string& member) {
    expect(!node.path.empty(), member + ".path", "is empty");
    expect(std::ranges::count(kNodeTypes, node.type) != 0, member + ".type",
           quoted(node.type) + " is none of b, c, u, p");
    expect(node.permissions.find_first_not_of("rwm") == std::string::npos, member + ".permissions",
           quoted(node.permissions) + " has letters other than r, w and m");
  }

  void hook(const Hook& hook, const std::string& member) {
    expect(std::ranges::count(kHookNames, hook.hook_name) != 0, member + ".hookName",
           quoted(hook.hook_name) + " is not a hook of the OCI runtime specification");
    expect(!hook.path.empty(), member + ".path", "is empty");
    for (std::size_t i = 0; i < hook.env.size(); ++i) {
      const auto equals = hook.env[i].find('=');
      expect(equals != std::string::npos && equals != 0, at(member + ".env", i),
             quoted(hook.env[i]) + " is not NAME=value");
    }
  }

  void net_devices(const Edits& edits, const std::string& member) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < edits.net_devices.size(); ++i) {
      const NetDevice& device = edits.net_devices[i];
      expect(!device.host_interface_name.empty(), at(member, i) + ".hostInterfaceName", "is empty");
      expect(!device.name.empty(), at(member, i) + ".name", "is empty");
      expect(seen.insert(device.name).second, at(member, i) + ".name", quoted(device.name) + " appears twice");
    }
  }

  void rdt(const IntelRdt& rdt, const std::string& member) {
    const std::string& id = rdt.clos_id;
    expect(id.size() < kMaxClosId && id != "." && id != ".." && id.find_first_of("/\n") == std::string::npos, member,
           quoted(id) + " is not a name of a folder");
  }

  std::vector<std::string> problems_;
};

void check_head(const Spec& spec, Check& check) {
  const auto position = [](std::string_view version) { return std::ranges::find(kVersions, version); };
  const std::string needed = smallest_version(spec);
  if (position(spec.version) == kVersions.end())
    check.expect(false, "cdiVersion",
                 quoted(spec.version) + " is not a version of the specification that slipway knows");
  else
    check.expect(position(spec.version) >= position(needed), "cdiVersion",
                 spec.version + " is too old for the members of this spec, which needs at least " + needed);
  const auto slash = spec.kind.find('/');
  const bool is_kind = slash != std::string::npos && is_vendor_or_class(spec.kind.substr(0, slash)) &&
                       is_vendor_or_class(spec.kind.substr(slash + 1));
  check.expect(is_kind, "kind", quoted(spec.kind) + " is not VENDOR/CLASS");
  check.expect(!spec.devices.empty(), "devices", "there is no device");
}

}  // namespace

bool is_vendor_or_class(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && is_alphanumeric(text.back()) && only(text, "_-.");
}

bool is_device_name(std::string_view text) {
  return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) && only(text, "_-.:");
}

Status validate(const Spec& spec, const std::string& where) {
  Check check;
  check_head(spec, check);
  check.annotations(spec.annotations, "annotations");
  check.edits(spec.edits, "containerEdits");
  std::set<std::string> names;
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    const Device& device = spec.devices[i];
    const std::string member = at("devices", i);
    check.expect(is_device_name(device.name), member + ".name", quoted(device.name) + " is not a device name");
    check.expect(names.insert(device.name).second, member + ".name", quoted(device.name) + " appears twice");
    check.expect(!device.edits.empty(), member + ".containerEdits",
                 "is empty: the device " + quoted(device.name) + " would change nothing");
    check.annotations(device.annotations, member + ".annotations");
    check.edits(device.edits, member + ".containerEdits");
  }
  return check.status(where);
}

}  // namespace slipway::nvidia::cdi
