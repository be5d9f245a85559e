// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nri/adjust.hpp"

#include "toolkit/nri/session.hpp"
#include "toolkit/programs/shim/document.hpp"
#include "toolkit/programs/shim/request.hpp"
#include "toolkit/programs/shim/specs.hpp"

namespace slipway::nri {
namespace {

constexpr std::size_t kMostSource = 200;  // bytes of what asked, in the log

/// "NAMESPACE/POD/CONTAINER"
std::string name_of(const wire::CreateContainerRequest& request) {
  std::string name = request.pod().pod_namespace() + "/" + request.pod().name() + "/" + request.container().name();
  return as_utf8(name.substr(0, kMostSource));
}

/// NRI has no place for all that CDI knows.
Status leave_out(nvidia::cdi::Edits& edits, const std::string& name, const Devices& devices, const Log& log) {
  if (!edits.net_devices.empty())
    return Error{ErrorCode::unsupported,
                 "the CDI specs give the container network devices, for which NRI has no place",
                 name,
                 "take `mode: config` for the component runtime, or specs without network devices",
                 {}};
  std::string what;
  if (edits.intel_rdt) what = "a class of Intel RDT";
  if (!edits.additional_gids.empty() && !devices.config.no_device_groups)
    what += (what.empty() ? "" : " and ") + std::string("the groups that device nodes belong to");
  if (!what.empty()) log("warning", name + ": its CDI specs name " + what + ", for which NRI has no place; left out");
  edits.intel_rdt.reset();
  edits.additional_gids.clear();
  return {};
}

}  // namespace

Devices devices_below(const std::string& root) {
  const std::string before = root == "/" ? "" : root;
  Devices devices;
  devices.read_node = [before](const std::string& path) { return shim::read_host_node(before + path); };
  if (auto config = shim::read_config(before + shim::config_path()))
    devices.config = std::move(*config);
  else
    devices.problem = std::move(config).error();
  for (std::string& folder : devices.config.spec_folders) folder = before + folder;
  return devices;
}

Result<wire::ContainerAdjustment> adjust(const wire::CreateContainerRequest& request, const Devices& devices,
                                         const Log& log) {
  const std::string name = name_of(request);
  const Json before = bundle_of(request.pod(), request.container());
  SLIPWAY_TRY(wanted, shim::read_request(before, devices.config, "the container " + name));
  for (const std::string& warning : wanted.warnings) log("warning", name + ": " + as_utf8(warning));
  if (wanted.empty()) return wire::ContainerAdjustment();
  if (devices.problem) return *devices.problem;
  SLIPWAY_TRY(edits, shim::Specs::read(devices.config.spec_folders).resolve(wanted, devices.config));
  SLIPWAY_CHECK(leave_out(edits, name, devices, log));
  Json after = before;
  SLIPWAY_CHECK(shim::apply_edits(after, edits, devices.read_node, "the container " + name));
  wire::ContainerAdjustment adjustment = difference(before, after);
  std::string given;
  for (const std::string& device : wanted.devices) given += " " + device;
  if (wanted.driver_only) given = " the driver's files and no device";
  log("info", name + ":" + as_utf8((given + ", asked for by " + wanted.source).substr(0, kMostSource)));
  return adjustment;
}

}  // namespace slipway::nri
