// SPDX-License-Identifier: Apache-2.0
// app/machine/facts.hpp - the facts about the machine in `slipway status`, and since when they hold. No plugin is
// called for them. Times are RFC 3339 in UTC, empty when unknown.
#pragma once

#include <ctime>
#include <map>
#include <string>
#include <vector>

#include <slipway/json.hpp>

#include "core/engine/session.hpp"

namespace slipway::app {

/// {"kind": "machine", "image" or "simulated", "name", "os", "root"}; names are empty when the root has none.
Json host_facts(const core::Session& session);

/// {"release": the running kernel, or the only one of an image; else "", "installed": […]}
Json kernel_facts(const core::Session& session);

/// Returns the PCI functions that the services of plugins use, one entry per model: [{"pci": "10de:2330", "name",
/// "class": "0302", "count", "driver"}]. The name is from the root's PCI ID database (pci.ids), if the root has one.
/// Null when the root shows no devices, or no plugin asks for any.
Json device_facts(const core::Session& session);

/// {"problem", "do"} when the file system of the state folder has no room or no inodes left, so that no apply can
/// record anything. Null when there is room, or when the file system is read-only anyway.
Json full_disk(const core::Session& session);

/// Returns the name of a device in a PCI ID database (pci-ids(5)): "GH100 [H100 SXM5 80GB]"; empty when it has none.
std::string pci_name(const std::string& database, const std::string& vendor, const std::string& device);

/// Returns for each component of the generation since when it has been applied in its present form: the time of the
/// earliest generation, in the chain of generations active before, that has the component in this form.
std::map<std::string, std::string> applied_since(const core::StateDir& state, const core::Generation& current);

/// Returns for each failing component since when every apply in the root's log has left it in its present state.
/// @param events   app/history, oldest first; the author of a root may have written anything there
/// @param failing  StateDir::failing()
std::map<std::string, std::string> failing_since(const std::vector<Json>& events, const Json& failing);

/// Returns what `apply --boot --only COMPONENT` has restored in this boot (units start it when a file has changed):
/// {"times", "last", "changes": of the last one}; null: nothing.
/// @param events  as for failing_since()
Json put_back(const std::vector<Json>& events, const std::string& component, const std::string& boot_id);

/// Returns the time since then, "3 h"; "-" when it is unknown, "now" when it is less than a minute ago, or in the
/// future.
std::string age_text(const std::string& since, std::time_t now);

}  // namespace slipway::app
