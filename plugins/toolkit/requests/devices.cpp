// SPDX-License-Identifier: Apache-2.0
#include "toolkit/requests/devices.hpp"

#include <cerrno>

#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace slipway::shim {
namespace {

constexpr const char* kRenew = "renew the CDI spec: `slipway apply` with the component cdi, or `slipway cdi generate`";

std::string numbers(std::int64_t major, std::int64_t minor) {
  return std::to_string(major) + ":" + std::to_string(minor);
}

}  // namespace

Result<HostNode> read_host_node(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    Error error = system_error("look at", path, errno);
    error.what = "the device node " + path + " of the CDI spec is missing: " + error.what;
    error.next = kRenew;
    return error;
  }
  HostNode node;
  if (S_ISCHR(info.st_mode)) node.type = "c";
  if (S_ISBLK(info.st_mode)) node.type = "b";
  if (S_ISFIFO(info.st_mode)) node.type = "p";
  if (node.type.empty())
    return Error{ErrorCode::invalid,
                 path + ", which the CDI spec lists as a device node, is not a device node",
                 path,
                 kRenew,
                 {}};
  if (node.type != "p") {
    node.major = static_cast<std::int64_t>(major(info.st_rdev));
    node.minor = static_cast<std::int64_t>(minor(info.st_rdev));
  }
  node.mode = info.st_mode & 0777U;
  return node;
}

Result<nvidia::cdi::DeviceNode> complete_node(nvidia::cdi::DeviceNode node, const ReadNode& read_node) {
  if (node.host_path.empty()) node.host_path = node.path;
  const bool complete = !node.type.empty() && (node.major != 0 || node.type == "p");
  if (complete) return node;
  SLIPWAY_TRY(host, read_node(node.host_path));
  if (!node.type.empty() && node.type != host.type && !(node.type == "u" && host.type == "c"))
    return Error{ErrorCode::conflict,
                 node.host_path + " is of type " + host.type + ", but the CDI spec says " + node.type,
                 node.host_path,
                 kRenew,
                 {}};
  // Major numbers are assigned when a module is loaded, so a spec of an earlier boot may refer to another device.
  const bool has_numbers = node.major != 0 || node.minor != 0;
  if (has_numbers && (node.major != host.major || node.minor != host.minor))
    return Error{ErrorCode::conflict,
                 node.host_path + " is " + numbers(host.major, host.minor) + ", but the CDI spec says " +
                     numbers(node.major, node.minor),
                 node.host_path,
                 kRenew,
                 {}};
  if (node.type.empty()) node.type = host.type;
  node.major = host.major;
  node.minor = host.minor;
  if (!node.file_mode) node.file_mode = host.mode;
  return node;
}

Json device_entry(const nvidia::cdi::DeviceNode& node) {
  Json entry{{"path", node.path}, {"type", node.type}};
  if (node.type != "p") {
    entry["major"] = node.major;
    entry["minor"] = node.minor;
  }
  if (node.file_mode) entry["fileMode"] = *node.file_mode;
  if (node.uid) entry["uid"] = *node.uid;
  if (node.gid) entry["gid"] = *node.gid;
  return entry;
}

Json cgroup_rule(const nvidia::cdi::DeviceNode& node) {
  return Json{{"allow", true},
              {"type", node.type == "u" ? "c" : node.type},
              {"major", node.major},
              {"minor", node.minor},
              {"access", node.permissions.empty() ? "rwm" : node.permissions}};
}

}  // namespace slipway::shim
