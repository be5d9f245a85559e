// SPDX-License-Identifier: Apache-2.0
// sandbox/unit/granted_access.hpp - checks that a service still has the access that its unit granted: the devices and
// folders of the machine when systemd started the service.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/root_dir.hpp>

namespace slipway::sandbox {

/// Checks what systemd fixes at the start: the numbers of devices in the cgroup's rules, and the folders that are
/// mounted for writing. A folder that is removed and created again stays read-only for the service.
class GrantedAccess {
 public:
  /// @param mark  a file of the root; it records until the next boot that the service was restarted because of a closed
  ///              node
  GrantedAccess(std::vector<std::string> device_classes, const std::vector<std::string>& folders, RootDir root,
                std::string mark);
  /// Returns the reason for restarting the service, for the log; empty when nothing has changed. Reports each reason
  /// once: not for access that was already missing at the start, and not for a node that a restart did not open.
  std::string lost();

 private:
  std::string lost_folder() const;
  std::string lost_device();

  std::vector<std::string> device_classes_;
  std::map<std::string, int> folders_;  ///< folder to the errno of access(2) at the start
  RootDir root_;
  std::string mark_;
  std::string numbers_;
};

}  // namespace slipway::sandbox
