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
/// goes on with the next line.
std::string unit_line(const std::string& text);

/// A setting that is one path, such as PathChanged=, where "\" stands for itself.
std::string unit_path(const std::string& path);

/// A path as one word of a list of paths or of a command line.
std::string unit_word(const std::string& path);

/// The same in ExecStart= and the like behind the program, where systemd puts a variable for "$" (systemd.service(5)).
std::string unit_command_word(const std::string& path);

/// The lines of a [Unit] section that pass the unit over, without a failure, once slipway is no longer installed.
std::string unit_while_installed(const std::string& program);

/// "NoNewPrivileges=yes" and the like, which every unit has unless its work needs one of them.
/// @param without  the names of those that it cannot have: "ProtectKernelLogs"
std::vector<std::string> restrictions(const std::set<std::string_view>& without);

/// The same as lines.
std::string restriction_lines(const std::set<std::string_view>& without);

}  // namespace slipway::base
