// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/nodes.hpp"

#include <algorithm>
#include <charconv>

#include <fnmatch.h>

#include <slipway/text.hpp>

#include "nvidia/gpu.hpp"
#include "toolkit/cdi/libraries.hpp"

namespace slipway::toolkit {
namespace {

constexpr unsigned kPermissionBits = 0777;
constexpr unsigned kForAll = 0006;  // other users may read and write

Error missing(const std::string& path, const std::string& owner) {
  return Error{ErrorCode::not_found,
               "the device node " + path + " of " + owner + " is missing: a container with this device would not start",
               path,
               "make the nodes: `slipway apply` with the component driver (and mig), or `nvidia-modprobe`",
               {}};
}

}  // namespace

Status NodeWriter::add(const std::string& path, const std::string& owner, nvidia::cdi::Edits& edits) const {
  const auto info = roots_.dev.info(path);
  if (!info) return missing(path, owner);
  if (info->type != FileInfo::Type::character_device)
    return Error{ErrorCode::invalid,
                 path + " of " + owner + " is not a character device",
                 path,
                 "remove it and make the node again: `slipway apply` with the component driver",
                 {}};
  nvidia::cdi::DeviceNode node;
  node.path = path;
  if (!roots_.dev_root.empty()) node.host_path = roots_.dev_root + path;
  node.major = info->device_major;
  node.minor = info->device_minor;
  node.file_mode = info->mode & kPermissionBits;
  node.permissions = "rwm";
  if (info->gid != 0) node.gid = info->gid;
  if (with_groups_ && info->gid != 0 && (info->mode & kForAll) != kForAll) edits.additional_gids.push_back(info->gid);
  edits.device_nodes.push_back(std::move(node));
  return {};
}

std::vector<std::string> NodeWriter::matching(const std::string& folder, const std::string& pattern) const {
  std::vector<std::string> paths;
  const auto names = roots_.dev.list(folder).value_or({});
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    const auto info = roots_.dev.info(path);
    if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0 && info && info->type == FileInfo::Type::character_device)
      paths.push_back(path);
  }
  return paths;
}

Status add_control_nodes(const Roots& roots, const NodeWriter& nodes, nvidia::cdi::Edits& edits) {
  const bool modeset = roots.dev.info("/dev/nvidia-modeset").ok() || roots.kernel.module_loaded("nvidia-modeset");
  if (modeset) SLIPWAY_CHECK(nodes.add("/dev/nvidia-modeset", "the driver", edits));
  for (const char* path : {"/dev/nvidia-uvm-tools", "/dev/nvidia-uvm", "/dev/nvidiactl"})
    SLIPWAY_CHECK(nodes.add(path, "the driver", edits));
  return {};
}

DrmNodes find_drm_nodes(const Roots& roots, const std::string& pci_address) {
  DrmNodes drm;
  const auto names = roots.kernel.list("/sys/bus/pci/devices/" + pci_address + "/drm").value_or({});
  for (const std::string& name : names)
    if (roots.dev.info("/dev/dri/" + name).ok()) drm.paths.push_back("/dev/dri/" + name);
  for (const char* end : {"-card", "-render"}) {
    const std::string link = "/dev/dri/by-path/pci-" + pci_address + end;
    const auto target = roots.dev.read_link(link);
    if (target && std::ranges::count(drm.paths, "/dev/dri/" + file_name(*target)) != 0)
      drm.links.push_back(*target + "::" + link);
  }
  return drm;
}

std::map<std::string, unsigned> parse_mig_minors(std::string_view text) {
  std::map<std::string, unsigned> minors;
  for (const std::string_view line : lines_of<std::string_view>(text)) {
    const auto space = line.find(' ');
    if (space == std::string_view::npos || space == 0) continue;
    unsigned minor = 0;
    const auto [stop, problem] = std::from_chars(line.data() + space + 1, line.data() + line.size(), minor);
    if (problem == std::errc{} && stop == line.data() + line.size()) minors.emplace(line.substr(0, space), minor);
  }
  return minors;
}

Result<std::vector<std::string>> mig_capability_nodes(const std::map<std::string, unsigned>& minors,
                                                      const GpuDevice& gpu, const MigDevice& device) {
  const std::string instance = "gpu" + std::to_string(gpu.minor) + "/gi" + std::to_string(device.gpu_instance);
  std::vector<std::string> paths;
  for (const std::string& name :
       {instance + "/access", instance + "/ci" + std::to_string(device.compute_instance) + "/access"}) {
    const auto found = minors.find(name);
    if (found == minors.end())
      return Error{ErrorCode::not_found,
                   name_of(gpu) + ": the driver lists no capability " + name + " for its MIG device " +
                       std::to_string(device.index),
                   "/proc/driver/nvidia-caps/mig-minors",
                   "the MIG layout is being changed: run the same command again when the change is done",
                   {}};
    paths.push_back("/dev/nvidia-caps/nvidia-cap" + std::to_string(found->second));
  }
  return paths;
}

std::string name_of(const GpuDevice& gpu) { return nvidia::gpu_label(gpu.index, gpu.pci_address); }

}  // namespace slipway::toolkit
