// SPDX-License-Identifier: Apache-2.0
// cli/status/machine_facts.hpp - what `slipway status` says of the machine itself: nothing that a plugin is asked for.
#pragma once

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

/// The name of a device in a PCI ID database (pci-ids(5)): "GH100 [H100 SXM5 80GB]"; empty: it has none.
std::string pci_name(const std::string& database, const std::string& vendor, const std::string& device);

}  // namespace slipway::core
