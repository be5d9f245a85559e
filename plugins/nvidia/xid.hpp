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
/// (PCI:0000:65:00 GPU-I:07 GPU-CI:00): 43, …". plugins/nvidia/health has the meanings.
struct Xid {
  unsigned number = 0;
  std::string address;               ///< PCI address in the form of sysfs: "0000:65:00.0"
  std::optional<unsigned> instance;  ///< the affected GPU instance (MIG)
  std::string text;                  ///< after the number
};
std::optional<Xid> parse_xid(std::string_view line);
/// Reads "NVRM: GPU 0000:3a:00.0: GPU has fallen off the bus.", which some drivers write without an XID, as XID 79.
std::optional<Xid> parse_fallen_gpu(std::string_view line);

/// One line "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30 LTSSM Fault Up" of an NVSwitch.
struct SwitchXid {
  unsigned number = 0;
  std::string address;  ///< of the switch
  bool fatal = false;
  std::string text;  ///< after the number
};
std::optional<SwitchXid> parse_switch_xid(std::string_view line);

/// The number of XIDs with the same number on the same GPU; in order of first appearance.
struct XidCount {
  Xid last;
  unsigned times = 0;
};
std::vector<XidCount> count_xids(const std::vector<std::string>& log);
/// Returns GPUs that have fallen off the bus according to the log, without an XID 79; also by the three lines "NVRM:
/// The NVIDIA GPU 0000:3a:00.0", "NVRM: (PCI ID: …) installed in this system has", "NVRM: fallen off the bus and …".
std::vector<std::string> fallen_gpus(const std::vector<std::string>& log);

/// Reads the kernel's own records from /dev/kmsg, or else the host's journal, oldest first, one text for each record.
/// Line ends inside a record are "\x0a", as the kernel prints them: the text after one may be the name of a program or
/// file, which any user can choose, and is not a message of its own (dmesg shows it as one if it uses syslog(2)).
/// Records about crashed programs, whose text any user can choose, are left out. In some other records users can choose
/// the end of the text, so only the beginning is reliable. Empty when neither source answers: a root that is not live,
/// or a kernel that hides its log.
std::optional<std::vector<std::string>> read_kernel_log(const Host& host);

/// Returns a line without the "[   12.345678] " or "[   12.345678][ T1234] " that dmesg prepends.
std::string_view without_time(std::string_view line);

}  // namespace slipway::nvidia
