// SPDX-License-Identifier: Apache-2.0
// core/engine/devices.hpp - the PCI devices of a machine that plugins are for, and whether those that the spec expects
// are there.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>

#include "core/engine/session.hpp"
#include "core/spec/expected_gpus.hpp"

namespace slipway::core {

/// PCI functions that fit a `service_device` of an installed plugin, in bus order; none without a kernel's view.
std::vector<PciDevice> plugin_devices(const Session& session);

/// Those of them that are GPUs (PCI class 03, display controllers), without virtual functions of SR-IOV.
std::vector<PciDevice> gpus_on_bus(const Session& session);

/// "10de:2330"
std::string pci_id(const PciDevice& device);

/// "slipway.expect": it fails when GPUs are missing from the PCI bus or do not answer, or one is of another product,
/// and warns of more than expected; not exercised for a root that shows no devices. Nothing where the spec expects
/// nothing.
/// @param silent  addresses of GPUs that are on the bus and do not answer, see silent_gpus()
std::optional<Finding> check_expectation(const Session& session, const ExpectedGpus& expected,
                                         const std::set<std::string>& silent = {});

/// Addresses of the GPUs that do not answer, as the causes of findings name them ("gpu/0000:65:00.0/lost").
std::set<std::string> silent_gpus(const std::map<std::string, Findings>& findings);

}  // namespace slipway::core
