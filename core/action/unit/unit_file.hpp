// SPDX-License-Identifier: Apache-2.0
// core/action/unit/unit_file.hpp - the links that enabling a systemd unit creates, from its [Install] section.
//
// Source of the rules: systemd.unit(5), "[Install] Section Options", and systemctl(1), `enable`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

constexpr const char* kUnitFolder = "/etc/systemd/system";

struct InstallSection {
  std::vector<std::string> wanted_by;
  std::vector<std::string> required_by;
  std::vector<std::string> upheld_by;
  std::vector<std::string> alias;
  std::vector<std::string> also;
  std::string default_instance;
};

InstallSection parse_install(const std::string& unit_file);

/// The name of the file that defines a unit: "a@.service" defines "a@b.service".
std::string unit_file_name(const std::string& unit);
/// Returns the path of a unit's file in the root, searched as systemd does; empty when the root has none.
std::string find_unit_file(const Host& host, const std::string& unit);
/// True when the administrator masked the unit: /etc/systemd/system has a link to /dev/null or an empty file for it.
bool unit_masked(const Host& host, const std::string& unit);

/// Returns every link of an enabled unit with its target, including units named with Also=.
/// @param file     path of the unit's file
/// @param content  its content
std::map<std::string, std::string> enablement_links(const Host& host, const std::string& unit, const std::string& file,
                                                    const std::string& content);

}  // namespace slipway::core
