// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/nodes.hpp - device nodes as a CDI spec lists them, and the capabilities of MIG devices.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"
#include "toolkit/cdi/inventory.hpp"

namespace slipway::toolkit {

/// For the device of a full GPU: "true" or "false".
inline constexpr const char* kCoherentAnnotation = "gpu.nvidia.com/coherent";

/// Adds nodes to edits, and, if requested, the group of a node that only root or a group can open.
class NodeWriter {
 public:
  NodeWriter(const Roots& roots, bool with_groups) : roots_(roots), with_groups_(with_groups) {}

  /// @param owner  owner of the node, for messages: "GPU 3 (0000:65:00.0)"
  /// Errors: `not_found` there is no such node; `invalid` it is not a device.
  Status add(const std::string& path, const std::string& owner, nvidia::cdi::Edits& edits) const;
  /// Returns the character devices in a folder whose names match a pattern (fnmatch), sorted.
  std::vector<std::string> matching(const std::string& folder, const std::string& pattern) const;

 private:
  const Roots& roots_;
  bool with_groups_;
};

/// Adds /dev/nvidiactl, nvidia-uvm, nvidia-uvm-tools; nvidia-modeset when it exists or its module is loaded. Errors:
/// those of NodeWriter::add().
Status add_control_nodes(const Roots& roots, const NodeWriter& nodes, nvidia::cdi::Edits& edits);

/// A GPU's DRM nodes, and links below /dev/dri/by-path to them ("TARGET::LINK").
struct DrmNodes {
  std::vector<std::string> paths;
  std::vector<std::string> links;
};
DrmNodes find_drm_nodes(const Roots& roots, const std::string& pci_address);

/// Reads minor numbers by capability, "gpu0/gi7/ci0/access", from /proc/driver/nvidia-caps/mig-minors. Skips lines of
/// another form.
std::map<std::string, unsigned> parse_mig_minors(std::string_view text);

/// Returns the nodes of the two capabilities of a MIG device. Errors: `not_found` when the driver lists no such
/// capability.
Result<std::vector<std::string>> mig_capability_nodes(const std::map<std::string, unsigned>& minors,
                                                      const GpuDevice& gpu, const MigDevice& device);

/// "GPU 3 (0000:65:00.0)".
std::string name_of(const GpuDevice& gpu);

}  // namespace slipway::toolkit
