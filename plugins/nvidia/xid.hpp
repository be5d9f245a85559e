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
  std::string address;               ///< PCI, as sysfs writes it: "0000:65:00.0"
  std::optional<unsigned> instance;  ///< the GPU instance (MIG) that it is about
  std::string text;                  ///< after the number
};
std::optional<Xid> parse_xid(std::string_view line);
/// "NVRM: GPU 0000:3a:00.0: GPU has fallen off the bus.", which some drivers write without an XID: as XID 79.
std::optional<Xid> parse_fallen_gpu(std::string_view line);

/// One line "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30 LTSSM Fault Up" of an NVSwitch.
struct SwitchXid {
  unsigned number = 0;
  std::string address;  ///< of the switch
  bool fatal = false;
  std::string text;  ///< after the number
};
std::optional<SwitchXid> parse_switch_xid(std::string_view line);

/// The same number on the same GPU, counted; in order of first appearance.
struct XidCount {
  Xid last;
  unsigned times = 0;
};
std::vector<XidCount> count_xids(const std::vector<std::string>& log);
/// GPUs that the log says have fallen off the bus, and has no XID 79 of; also by the three lines "NVRM: The NVIDIA GPU
/// 0000:3a:00.0", "NVRM: (PCI ID: …) installed in this system has", "NVRM: fallen off the bus and …".
std::vector<std::string> fallen_gpus(const std::vector<std::string>& log);

/// From /dev/kmsg, else the host's journal: what the kernel itself wrote, oldest first, one text for each record. Its
/// line ends are "\x0a", as the kernel prints them: what follows one may be the name of a program or file, which
/// anybody chooses, and is no message of its own (dmesg shows it as one where it asks syslog(2)). Without records about
/// programs that crashed, in which everybody can write. What others may choose stands further on in some others, so
/// that only their beginning is the kernel's own. Nothing when neither answers: a root that is not live, or a kernel
/// that hides its log.
std::optional<std::vector<std::string>> read_kernel_log(const Host& host);

/// A line without the "[   12.345678] " or "[   12.345678][ T1234] " that dmesg puts in front.
std::string_view without_time(std::string_view line);

}  // namespace slipway::nvidia
