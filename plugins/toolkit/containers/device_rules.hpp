// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/containers/device_rules.hpp - decides whether a control group lets its processes open a device: the
// list of version 1, and the eBPF programs of version 2, which are read and interpreted here.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <linux/bpf.h>

namespace slipway::toolkit {

/// The number of a character device.
struct DeviceNumber {
  unsigned major = 0;
  unsigned minor = 0;
  auto operator<=>(const DeviceNumber&) const = default;
};

/// "195:0"
std::string to_text(DeviceNumber number);

/// True when the text of a devices.list ("a *:* rwm", "c 195:* rw") permits reading and writing.
bool list_allows(std::string_view list, DeviceNumber number);

using DeviceProgram = std::vector<bpf_insn>;

/// Evaluates a program of type BPF_PROG_TYPE_CGROUP_DEVICE for opening the device for reading and writing. Empty: it
/// uses an instruction that such programs of runc, crun and systemd do not (a call, a map), or does not end.
std::optional<bool> program_allows(const DeviceProgram& program, DeviceNumber number);

/// The rules of one control group.
struct DeviceRules {
  std::optional<std::string> list;      ///< version 1
  std::vector<DeviceProgram> programs;  ///< version 2: each program in effect, including those of parent groups

  /// True when all of them permit it. Empty: unknown.
  std::optional<bool> allow(DeviceNumber number) const;
};

}  // namespace slipway::toolkit
