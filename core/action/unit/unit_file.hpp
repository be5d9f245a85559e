// SPDX-License-Identifier: Apache-2.0
// core/action/unit/unit_file.hpp - what enabling a systemd unit means: the links that its [Install] section asks for.
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

/// The name of the file that defines a unit: "a@b.service" is defined by "a@.service".
std::string unit_file_name(const std::string& unit);
/// Where the root has the file of a unit, searched as systemd does; empty when it has none.
std::string find_unit_file(const Host& host, const std::string& unit);
/// The unit was masked by its administrator: a link to /dev/null or an empty file in /etc/systemd/system.
bool unit_masked(const Host& host, const std::string& unit);

/// Every link of an enabled unit and where it points, units that it names with Also= included.
/// @param file     path of the unit's file, @param content  of it
std::map<std::string, std::string> enablement_links(const Host& host, const std::string& unit, const std::string& file,
                                                    const std::string& content);

}  // namespace slipway::core
