// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/containers/kernel.hpp - the data of a running container that only the kernel has: the nodes in its
// files, and the programs of its control group.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "toolkit/containers/device_rules.hpp"

namespace slipway::toolkit {

/// The file at a path in a container.
struct Place {
  enum class Kind { device, other, missing, unseen };
  Kind kind = Kind::unseen;
  DeviceNumber number;  ///< for a character device
};

class ContainerKernel {
 public:
  virtual ~ContainerKernel() = default;
  /// @param mounts  the text of /proc/PID/mountinfo
  virtual Place place(unsigned pid, std::string_view mounts, const std::string& path) const = 0;
  /// Returns the programs in effect for a control group of version 2. @param path  as in /proc/PID/cgroup. Errors:
  /// `denied`, `unsupported` this kernel shows none; `not_found` the group is gone.
  virtual Result<std::vector<DeviceProgram>> programs(const std::string& path) const = 0;
};

/// The running kernel. A container's files are hostile: only names are looked up, links are never followed, and no call
/// is made that a file system of the container (FUSE) would have to answer. If a container blocks its folders, the
/// check is given up, and their contents are `unseen`.
class RunningKernel final : public ContainerKernel {
 public:
  /// @param root  the folder with proc and sys, without a slash at its end
  explicit RunningKernel(std::string root) : root_(std::move(root)) {}
  /// For a container that acts for its host, the host's kernel view.
  static RunningKernel of(const Host& host);
  Place place(unsigned pid, std::string_view mounts, const std::string& path) const override;
  Result<std::vector<DeviceProgram>> programs(const std::string& path) const override;

 private:
  std::string root_;
  mutable int held_ = 0;  ///< number of hanging looks
};

/// Returns the file system type of a mount, "tmpfs", by its number in the text of a mountinfo; empty: there is no such
/// mount.
std::string_view type_of_mount(std::string_view mounts, unsigned number);

}  // namespace slipway::toolkit
