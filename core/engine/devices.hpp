// SPDX-License-Identifier: Apache-2.0
// core/engine/devices.hpp - the PCI devices that the installed plugins serve, and the check for the devices that the
// spec expects.
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

/// Returns the PCI functions that match a `service_device` of an installed plugin, in bus order; empty without a kernel
/// view.
std::vector<PciDevice> plugin_devices(const Session& session);

/// Returns those of them that are GPUs (PCI class 03, display controllers), without SR-IOV virtual functions.
std::vector<PciDevice> gpus_on_bus(const Session& session);

/// "10de:2330"
std::string pci_id(const PciDevice& device);

/// The finding "slipway.expect". It fails when GPUs are missing from the PCI bus, do not answer, or are a different
/// product; it warns when there are more than expected; it is not exercised for a root that shows no devices. Empty
/// when the spec has no expectation.
/// @param silent  addresses of GPUs that are on the bus and do not answer, see silent_gpus()
std::optional<Finding> check_expectation(const Session& session, const ExpectedGpus& expected,
                                         const std::set<std::string>& silent = {});

/// Returns the addresses of GPUs that do not answer, taken from the causes of findings ("gpu/0000:65:00.0/lost").
std::set<std::string> silent_gpus(const std::map<std::string, Findings>& findings);

}  // namespace slipway::core
