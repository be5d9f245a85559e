// SPDX-License-Identifier: Apache-2.0
// app/machine/facts.hpp - what `slipway status` says of the machine itself, and since when things are as they are.
// Nothing in it is asked of a plugin. Times are RFC 3339 in UTC, empty where nobody knows.
#pragma once

#include <ctime>
#include <map>
#include <string>
#include <vector>

#include <slipway/json.hpp>

#include "core/engine/session.hpp"

namespace slipway::core {

/// {"kind": "machine", "image" or "simulated", "name", "os", "root"}; names are empty where the root has none.
Json host_facts(const Session& session);

/// {"release": of the machine, or the only one of an image; else "", "installed": […]}
Json kernel_facts(const Session& session);

/// The PCI functions that the services of plugins are for, those of one model together: [{"pci": "10de:2330", "name",
/// "class": "0302", "count", "driver"}]. The name is from the root's PCI ID database (pci.ids), if it has one. Null
/// where the root shows no devices, or no plugin asks for any.
Json device_facts(const Session& session);

/// {"problem", "do"} where the file system of the state folder has no room or no inodes left, so that no apply can
/// record anything; null: it has, or is read-only anyway.
Json full_disk(const Session& session);

/// The name of a device in a PCI ID database (pci-ids(5)): "GH100 [H100 SXM5 80GB]"; empty: it has none.
std::string pci_name(const std::string& database, const std::string& vendor, const std::string& device);

/// Since when each component of the generation is applied as it is there: the time of the earliest one, going back by
/// what was in force before, that has it so.
std::map<std::string, std::string> applied_since(const StateDir& state, const Generation& current);

/// Since when each component that does not work has ended every apply in the state that it has now, by the root's log.
/// @param events   app/history, oldest first; the author of a root may have written anything there
/// @param failing  StateDir::failing()
std::map<std::string, std::string> failing_since(const std::vector<Json>& events, const Json& failing);

/// What `apply --boot --only COMPONENT`, as units start it when a file has changed, has put back in this boot:
/// {"times", "last", "changes": of the last one}; null: nothing.
/// @param events  as for failing_since()
Json put_back(const std::vector<Json>& events, const std::string& component, const std::string& boot_id);

/// "3 h" since a time; "-" where it is unknown, "now" where it is less than a minute ago, or ahead.
std::string age_text(const std::string& since, std::time_t now);

}  // namespace slipway::core
