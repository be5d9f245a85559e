// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/cdi/spec.hpp - a CDI spec as the Container Device Interface defines it: devices, and the edits of
// each.
//
// Each struct names its members once, in fields(), in the order in which upstream writes them; reader and writers
// follow that list. Zero, empty and missing are the same, except where a member is optional.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slipway::nvidia::cdi {

using Annotations = std::map<std::string, std::string>;

/// A device node of a container. The runtime reads missing values (type, numbers, mode) from the host's node.
struct DeviceNode {
  std::string path;       ///< in the container
  std::string host_path;  ///< empty: the same as `path`
  std::string type;       ///< "", "b", "c", "u" or "p"
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::optional<std::uint32_t> file_mode;  ///< permission bits
  std::string permissions;                 ///< of "r", "w" and "m"; empty: all
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("path", self.path);
    visit("hostPath", self.host_path);
    visit("type", self.type);
    visit("major", self.major);
    visit("minor", self.minor);
    visit("fileMode", self.file_mode);
    visit("permissions", self.permissions);
    visit("uid", self.uid);
    visit("gid", self.gid);
  }
  bool operator==(const DeviceNode&) const = default;
};

struct NetDevice {
  std::string host_interface_name;
  std::string name;  ///< in the container

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("hostInterfaceName", self.host_interface_name);
    visit("name", self.name);
  }
  bool operator==(const NetDevice&) const = default;
};

/// A program of the host that the runtime starts at a point in the container's life.
struct Hook {
  std::string hook_name;  ///< "createContainer" and so on
  std::string path;
  std::vector<std::string> args;  ///< args[0] is the program's name
  std::vector<std::string> env;
  std::optional<std::int64_t> timeout;  ///< seconds

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("hookName", self.hook_name);
    visit("path", self.path);
    visit("args", self.args);
    visit("env", self.env);
    visit("timeout", self.timeout);
  }
  bool operator==(const Hook&) const = default;
};

struct Mount {
  std::string host_path;
  std::string container_path;
  std::vector<std::string> options;
  std::string type;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("hostPath", self.host_path);
    visit("containerPath", self.container_path);
    visit("options", self.options);
    visit("type", self.type);
  }
  bool operator==(const Mount&) const = default;
};

struct IntelRdt {
  std::string clos_id;
  std::string l3_cache_schema;
  std::string mem_bw_schema;
  std::vector<std::string> schemata;  ///< since 1.1.0
  bool enable_cmt = false;
  bool enable_mbm = false;
  bool enable_monitoring = false;  ///< since 1.1.0

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("closID", self.clos_id);
    visit("l3CacheSchema", self.l3_cache_schema);
    visit("memBwSchema", self.mem_bw_schema);
    visit("schemata", self.schemata);
    visit("enableCMT", self.enable_cmt);
    visit("enableMBM", self.enable_mbm);
    visit("enableMonitoring", self.enable_monitoring);
  }
  bool operator==(const IntelRdt&) const = default;
};

/// Changes to a container.
struct Edits {
  std::vector<std::string> env;  ///< "NAME=value"
  std::vector<DeviceNode> device_nodes;
  std::vector<NetDevice> net_devices;
  std::vector<Hook> hooks;  ///< in the order in which they run
  std::vector<Mount> mounts;
  std::optional<IntelRdt> intel_rdt;
  std::vector<std::uint32_t> additional_gids;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("env", self.env);
    visit("deviceNodes", self.device_nodes);
    visit("netDevices", self.net_devices);
    visit("hooks", self.hooks);
    visit("mounts", self.mounts);
    visit("intelRdt", self.intel_rdt);
    visit("additionalGids", self.additional_gids);
  }
  bool operator==(const Edits&) const = default;
  bool empty() const { return *this == Edits(); }
  /// Appends all of `other`; takes its Intel RDT class only if these edits have none.
  void append(const Edits& other);
};

struct Device {
  std::string name;
  Annotations annotations;
  Edits edits;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("name", self.name);
    visit("annotations", self.annotations);
    visit("containerEdits", self.edits);
  }
  bool operator==(const Device&) const = default;
};

struct Spec {
  std::string version;  ///< version of the CDI specification: "0.7.0"
  std::string kind;     ///< "VENDOR/CLASS"
  Annotations annotations;
  std::vector<Device> devices;
  Edits edits;  ///< for every container with one of the devices

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("cdiVersion", self.version);
    visit("kind", self.kind);
    visit("annotations", self.annotations);
    visit("devices", self.devices);
    visit("containerEdits", self.edits);
  }
  bool operator==(const Spec&) const = default;
  const Device* find(const std::string& name) const;
};

/// Returns the lowest version of the specification that covers this spec; at least 0.3.0.
std::string smallest_version(const Spec& spec);

}  // namespace slipway::nvidia::cdi
