// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/xid.hpp - the kernel's log, and XID errors of the driver in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::nvidia {

/// One line "NVRM: Xid (PCI:0000:65:00): 79, pid=1234, GPU has fallen off the bus.", or of a GPU instance "NVRM: Xid
/// (PCI:0000:65:00 GPU-I:07 GPU-CI:00): 43, …". What it means is in plugins/nvidia/health.
struct Xid {
  unsigned number = 0;
  std::string address;               ///< PCI, with the function where the driver writes it
  std::optional<unsigned> instance;  ///< the GPU instance (MIG) that it is about
  std::string text;                  ///< after the number
};
std::optional<Xid> parse_xid(std::string_view line);

/// The same number on the same GPU, counted; in order of first appearance.
struct XidCount {
  Xid last;
  unsigned times = 0;
};
std::vector<XidCount> count_xids(const std::vector<std::string>& log);

/// From the host's own dmesg, else its journal; oldest first, without time stamps, and without the lines about programs
/// that crashed, in which everybody can write. What others may choose stands further on in some other lines, so that
/// only their beginning is the kernel's own. Nothing when neither answers: a root that is not live, or a kernel that
/// hides its log.
std::optional<std::vector<std::string>> read_kernel_log(const Host& host);

/// A line without the "[   12.345678] " or "[   12.345678][ T1234] " that dmesg puts in front.
std::string_view without_time(std::string_view line);

}  // namespace slipway::nvidia
