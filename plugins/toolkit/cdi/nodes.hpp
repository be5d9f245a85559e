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

/// Of a full GPU's device: "true" or "false".
inline constexpr const char* kCoherentAnnotation = "gpu.nvidia.com/coherent";

/// Adds nodes to edits. A node that only root or a group can open brings its group along, where that is wanted.
class NodeWriter {
 public:
  NodeWriter(const Roots& roots, bool with_groups) : roots_(roots), with_groups_(with_groups) {}

  /// @param owner  whose node it is, for the message: "GPU 3 (0000:65:00.0)"
  /// Errors: `not_found` there is no such node; `invalid` it is not a device.
  Status add(const std::string& path, const std::string& owner, nvidia::cdi::Edits& edits) const;
  /// The character devices of a folder whose names fit a pattern (fnmatch), sorted.
  std::vector<std::string> matching(const std::string& folder, const std::string& pattern) const;

 private:
  const Roots& roots_;
  bool with_groups_;
};

/// /dev/nvidiactl, nvidia-uvm, nvidia-uvm-tools; nvidia-modeset when it is there or its module is loaded.
/// Errors: as NodeWriter::add().
Status add_control_nodes(const Roots& roots, const NodeWriter& nodes, nvidia::cdi::Edits& edits);

/// A GPU's DRM nodes, and links below /dev/dri/by-path that lead to them ("TARGET::LINK").
struct DrmNodes {
  std::vector<std::string> paths;
  std::vector<std::string> links;
};
DrmNodes find_drm_nodes(const Roots& roots, const std::string& pci_address);

/// Minor numbers by capability, "gpu0/gi7/ci0/access": of /proc/driver/nvidia-caps/mig-minors. Lines of another form
/// are skipped.
std::map<std::string, unsigned> parse_mig_minors(std::string_view text);

/// The nodes of the two capabilities that a MIG device takes.
/// Errors: `not_found` when the driver lists no such capability.
Result<std::vector<std::string>> mig_capability_nodes(const std::map<std::string, unsigned>& minors,
                                                      const GpuDevice& gpu, const MigDevice& device);

/// "GPU 3 (0000:65:00.0)".
std::string name_of(const GpuDevice& gpu);

}  // namespace slipway::toolkit
