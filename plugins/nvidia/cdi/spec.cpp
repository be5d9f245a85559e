// SPDX-License-Identifier: Apache-2.0
#include "nvidia/cdi/spec.hpp"

#include <algorithm>
#include <cctype>

namespace slipway::nvidia::cdi {
namespace {

template <class T>
void add(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// Additions of each version of the specification; versions without additions for specs are left out.
enum Version { k030, k040, k050, k060, k070, k110 };

Version needed_by(const Edits& edits) {
  Version needed = k030;
  const auto need = [&needed](bool used, Version version) { needed = used ? std::max(needed, version) : needed; };
  for (const Mount& mount : edits.mounts) need(!mount.type.empty(), k040);
  for (const DeviceNode& node : edits.device_nodes) need(!node.host_path.empty(), k050);
  need(edits.intel_rdt.has_value() || !edits.additional_gids.empty(), k070);
  need(!edits.net_devices.empty(), k110);
  need(edits.intel_rdt && (!edits.intel_rdt->schemata.empty() || edits.intel_rdt->enable_monitoring), k110);
  return needed;
}

}  // namespace

void Edits::append(const Edits& other) {
  add(env, other.env);
  add(device_nodes, other.device_nodes);
  add(net_devices, other.net_devices);
  add(hooks, other.hooks);
  add(mounts, other.mounts);
  if (!intel_rdt) intel_rdt = other.intel_rdt;
  add(additional_gids, other.additional_gids);
}

const Device* Spec::find(const std::string& name) const {
  const auto found = std::ranges::find(devices, name, &Device::name);
  return found == devices.end() ? nullptr : &*found;
}

std::string smallest_version(const Spec& spec) {
  Version needed = needed_by(spec.edits);
  const auto need = [&needed](Version version) { needed = std::max(needed, version); };
  if (!spec.annotations.empty()) need(k060);
  const auto slash = spec.kind.find('/');
  if (slash != std::string::npos && spec.kind.find('.', slash) != std::string::npos) need(k060);
  for (const Device& device : spec.devices) {
    need(needed_by(device.edits));
    if (!device.annotations.empty()) need(k060);
    if (!device.name.empty() && std::isdigit(static_cast<unsigned char>(device.name.front())) != 0) need(k050);
  }
  constexpr const char* kText[] = {"0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "1.1.0"};
  return kText[needed];
}

}  // namespace slipway::nvidia::cdi
