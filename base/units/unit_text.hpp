// SPDX-License-Identifier: Apache-2.0
// base/units/unit_text.hpp - what the texts of systemd units share: how paths are written in them
// (systemd.unit(5), systemd.syntax(7)), and what systemd takes away from each (systemd.exec(5)).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::base {

/// A setting that is one text, to the end of its line, such as Description=: "%" begins a specifier, and "\" at the end
/// continues the text on the next line.
std::string unit_line(const std::string& text);

/// A setting that is one path, such as PathChanged=, where "\" stands for itself.
std::string unit_path(const std::string& path);

/// A path as one word of a list of paths or of a command line.
std::string unit_word(const std::string& path);

/// The same in ExecStart= and the like behind the program, where systemd puts a variable for "$" (systemd.service(5)).
std::string unit_command_word(const std::string& path);

/// The lines of a [Unit] section that make systemd skip the unit, without a failure, once slipway is no longer
/// installed.
std::string unit_while_installed(const std::string& program);

/// "NoNewPrivileges=yes" and the like, which every unit has unless its work needs one of them.
/// @param without  the names of those that it cannot have: "ProtectKernelLogs"
std::vector<std::string> restrictions(const std::set<std::string_view>& without);

/// The same restrictions as lines of text.
std::string restriction_lines(const std::set<std::string_view>& without);

/// The limits and restrictions of a unit that runs an apply. It gets no mount namespace, which would hide its changes.
inline constexpr std::string_view kLimitsOfAnApply = R"(MemoryMax=90%
TasksMax=16384
UMask=0022
NoNewPrivileges=yes
CapabilityBoundingSet=~CAP_AUDIT_CONTROL CAP_AUDIT_READ CAP_AUDIT_WRITE CAP_BLOCK_SUSPEND CAP_BPF CAP_IPC_OWNER
CapabilityBoundingSet=~CAP_LEASE CAP_LINUX_IMMUTABLE CAP_MAC_ADMIN CAP_MAC_OVERRIDE CAP_NET_BIND_SERVICE
CapabilityBoundingSet=~CAP_NET_BROADCAST CAP_NET_RAW CAP_PERFMON CAP_SYS_BOOT CAP_SYS_PACCT CAP_SYS_RAWIO CAP_SYS_TIME
CapabilityBoundingSet=~CAP_SYS_TTY_CONFIG CAP_WAKE_ALARM
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictRealtime=yes
LockPersonality=yes
KeyringMode=private
ProtectHostname=yes
SystemCallArchitectures=native
SystemCallFilter=~@clock @cpu-emulation @debug @obsolete @raw-io @reboot @swap
SystemCallErrorNumber=EPERM
)";

}  // namespace slipway::base
