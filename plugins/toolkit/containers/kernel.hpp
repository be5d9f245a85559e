// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/containers/kernel.hpp - what only the kernel tells of a running container: the nodes in its files,
// and the programs of its control group.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "toolkit/containers/device_rules.hpp"

namespace slipway::toolkit {

/// What is at a path in a container.
struct Place {
  enum class Kind { device, other, missing, unseen };
  Kind kind = Kind::unseen;
  DeviceNumber number;  ///< of a character device
};

class ContainerKernel {
 public:
  virtual ~ContainerKernel() = default;
  /// @param mounts  the text of /proc/PID/mountinfo
  virtual Place place(unsigned pid, std::string_view mounts, const std::string& path) const = 0;
  /// Those in force for a control group of version 2. @param path  as /proc/PID/cgroup has it
  /// Errors: `denied`, `unsupported` this kernel shows none; `not_found` the group is gone.
  virtual Result<std::vector<DeviceProgram>> programs(const std::string& path) const = 0;
};

/// The running kernel. A container's files are hostile: of them only names are looked up, never a link followed, and
/// nothing is opened or asked that a file system of the container's own (FUSE) would have to answer. Nobody waits for
/// long where a container keeps its folders locked: what is in them is unseen then.
class RunningKernel final : public ContainerKernel {
 public:
  /// @param root  the folder that has proc and sys in it, without a slash at its end
  explicit RunningKernel(std::string root) : root_(std::move(root)) {}
  /// Where a container acts for its host, that one's.
  static RunningKernel of(const Host& host);
  Place place(unsigned pid, std::string_view mounts, const std::string& path) const override;
  Result<std::vector<DeviceProgram>> programs(const std::string& path) const override;

 private:
  std::string root_;
  mutable int held_ = 0;  ///< how many looks have not ended
};

/// The file system type of a mount, "tmpfs", by its number in the text of a mountinfo; empty: it is not there.
std::string_view type_of_mount(std::string_view mounts, unsigned number);

}  // namespace slipway::toolkit
