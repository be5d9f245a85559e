// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nri/adjustment.hpp"

#include <map>
#include <set>

#include "toolkit/nri/session.hpp"
#include "toolkit/requests/document.hpp"
#include "toolkit/requests/report.hpp"
#include "toolkit/requests/request.hpp"
#include "toolkit/requests/require/machine.hpp"
#include "toolkit/requests/specs.hpp"

namespace slipway::nri {
namespace {

/// "NAMESPACE/POD/CONTAINER"
std::string name_of(const wire::CreateContainerRequest& request) {
  std::string name = request.pod().pod_namespace() + "/" + request.pod().name() + "/" + request.container().name();
  return as_utf8(shim::shortened(name));
}

/// Returns annotations of a container that its pod did not have when it was created. An engine may copy the pod's
/// current ones (containerd's `pod_annotations`), so some are from kubelet, and others possibly from the pod's author.
std::set<std::string> fresh_annotations(const wire::CreateContainerRequest& request) {
  std::map<std::string, std::string> of_pod;
  for (const auto& pair : request.pod().annotations()) of_pod[pair.key()] = pair.value();
  std::set<std::string> keys;
  for (const auto& pair : request.container().annotations()) {
    const auto same = of_pod.find(pair.key());
    if (same == of_pod.end() || same->second != pair.value()) keys.insert(pair.key());
  }
  return keys;
}

/// Returns the devices that kubelet has given to the container, under all names in the host's CDI specs.
shim::KubeletDevices given_by_kubelet(const wire::CreateContainerRequest& request, const Devices& devices,
                                      const shim::Specs& specs) {
  shim::KubeletDevices given;
  const auto uuids =
      devices.ask_kubelet({request.pod().pod_namespace(), request.pod().name(), request.container().name()});
  if (!uuids) {
    given.problem = uuids.error().what + (uuids.error().where.empty() ? "" : " (" + uuids.error().where + ")");
    return given;
  }
  for (const std::string& uuid : *uuids) {
    given.devices.push_back(devices.config.default_kind + "=" + uuid);
    given.names.insert(given.devices.back());
    for (std::string& name : specs.all_names_of(given.devices.back())) given.names.insert(std::move(name));
  }
  return given;
}

/// Removes edits that NRI does not support.
Status leave_out(nvidia::cdi::Edits& edits, const std::string& name, const Log& log) {
  if (!edits.net_devices.empty())
    return Error{ErrorCode::unsupported,
                 "the CDI specs have network devices for the container, which NRI does not support",
                 name,
                 "use `mode: config` for the component runtime, or specs without network devices",
                 {}};
  std::string what;
  if (edits.intel_rdt) what = "a class of Intel RDT";
  if (!edits.additional_gids.empty())
    what += (what.empty() ? "" : " and ") + std::string("the groups that device nodes belong to");
  if (!what.empty())
    log("warning", name + ": left out " + what + ", which its CDI specs name and NRI does not support");
  edits.intel_rdt.reset();
  edits.additional_gids.clear();
  return {};
}

}  // namespace

Devices devices_below(const std::string& root) {
  const std::string before = root == "/" ? "" : root;
  Devices devices;
  devices.root = before;
  devices.read_node = [before](const std::string& path) { return shim::read_host_node(before + path); };
  if (auto config = shim::read_config(before + shim::config_path()))
    devices.config = std::move(*config);
  else
    devices.problem = std::move(config).error();
  for (std::string& folder : devices.config.spec_folders) folder = before + folder;
  return devices;
}

Result<wire::ContainerAdjustment> adjust(const wire::CreateContainerRequest& request, const Devices& devices,
                                         const Log& whole_log) {
  const Log log = [&](const char* level, const std::string& text) {
    if (shim::level_of(level) <= devices.config.log_level) whole_log(level, text);
  };
  const std::string name = name_of(request);
  const Json before = bundle_of(request.pod(), request.container());
  std::optional<shim::Specs> known;
  const auto specs = [&]() -> const shim::Specs& {
    if (!known) known = shim::Specs::read(devices.config.spec_folders);
    return *known;
  };
  const auto read = shim::read_request(before, devices.config, "the container " + name,
                                       {.pod_namespace = request.pod().pod_namespace(),
                                        .ask_kubelet = [&] { return given_by_kubelet(request, devices, specs()); },
                                        .fresh_annotations = fresh_annotations(request)});
  if (devices.problem && (!read || read->asked)) return *devices.problem;
  if (!read) return read.error();
  const shim::Request& wanted = *read;
  for (const std::string& warning : wanted.warnings) log("warning", name + ": " + as_utf8(warning));
  if (wanted.empty()) return wire::ContainerAdjustment();
  SLIPWAY_TRY(edits, specs().resolve(wanted, devices.config));
  SLIPWAY_TRY(unchecked,
              shim::check_requirements(wanted, edits, devices.config, devices.root, "the container " + name));
  for (const std::string& warning : unchecked) log("warning", name + ": " + as_utf8(warning));
  shim::leave_out_unwanted(edits, devices.config);
  SLIPWAY_CHECK(leave_out(edits, name, log));
  Json after = before;
  SLIPWAY_CHECK(shim::apply_edits(after, edits, devices.read_node, "the container " + name));
  wire::ContainerAdjustment adjustment = difference(before, after);
  std::string given;
  for (const std::string& device : wanted.devices) given += " " + device;
  if (wanted.driver_only) given = " the driver's files without a device";
  log("info", name + ":" + as_utf8(shim::shortened(given) + ", asked for by " + wanted.source));
  for (const std::string& edit : shim::described(edits)) log("debug", name + ": " + as_utf8(shim::shortened(edit)));
  return adjustment;
}

}  // namespace slipway::nri
