// SPDX-License-Identifier: Apache-2.0
// sandbox/unit/granted.hpp - whether a service still has what its unit gave it: the devices and the folders of the
// machine as it was when systemd started the service.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/root_dir.hpp>

namespace slipway::core {

/// Looks at what systemd fixes at the start: the numbers of devices in the cgroup's rules, and the folders that are
/// mounted for writing. One that is removed and made again is read-only for the service, for good.
class Granted {
 public:
  /// @param mark  a file of the root; it keeps until the next boot why the service was started afresh for a closed node
  Granted(std::vector<std::string> device_classes, const std::vector<std::string>& folders, RootDir root,
          std::string mark);
  /// Why the service has to be started afresh, for the log; empty: all is as it was. Each cause is named once: what
  /// was no better at the start is none, and a node that a fresh start did not open is none either.
  std::string lost();

 private:
  std::string lost_folder() const;
  std::string lost_device();

  std::vector<std::string> device_classes_;
  std::map<std::string, int> folders_;  ///< to errno of access(2) at the start
  RootDir root_;
  std::string mark_;
  std::string numbers_;
};

}  // namespace slipway::core
