// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/xid.hpp - the kernel's log, XID errors of the driver in it, and what each asks for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::nvidia {

/// One line "NVRM: Xid (PCI:0000:65:00): 79, pid=1234, GPU has fallen off the bus."
struct Xid {
  unsigned number = 0;
  std::string address;  ///< PCI, with the function where the driver writes it
  std::string text;     ///< after the number
};
std::optional<Xid> parse_xid(std::string_view line);

/// What is known of a number (NVIDIA's XID catalogue, docs.nvidia.com/deploy/xid-errors).
struct XidMeaning {
  bool of_the_application = false;  ///< a program's mistake; the GPU is fine
  std::string what;
  std::string remedy;
};
XidMeaning meaning_of(unsigned number);

/// The same number on the same GPU, counted; in order of first appearance.
struct XidCount {
  Xid last;
  unsigned times = 0;
};
std::vector<XidCount> count_xids(const std::vector<std::string>& log);

/// From the host's own dmesg, else its journal; oldest first, without time stamps. Nothing when neither answers: a root
/// that is not live, or a kernel that hides its log.
std::optional<std::vector<std::string>> read_kernel_log(const Host& host);

/// A line without the "[   12.345678] " that dmesg puts in front.
std::string_view without_time(std::string_view line);

}  // namespace slipway::nvidia
