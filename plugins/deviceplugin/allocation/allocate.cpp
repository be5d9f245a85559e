// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/allocation/allocate.hpp"

#include <algorithm>
#include <set>

#include <slipway/text.hpp>

namespace slipway::deviceplugin {
namespace {

constexpr const char* kVisible = "NVIDIA_VISIBLE_DEVICES";
constexpr const char* kMountRoot = "/var/run/nvidia-container-devices";  // NVIDIA's runtime looks for names there
constexpr const char* kImexNodes = "/dev/nvidia-caps-imex-channels/channel";

Error refused(std::string what, std::string next) {
  return Error{.code = ErrorCode::invalid, .what = std::move(what), .where = {}, .next = std::move(next)};
}

/// Returns the devices behind the ids, each once, in the order of the request.
Result<std::vector<const Device*>> devices_of(const Resource& resource, const std::vector<std::string>& ids) {
  std::vector<const Device*> devices;
  for (const std::string& text : ids) {
    const Id* const id = resource.find(text);
    if (id == nullptr)
      return refused("invalid request: unknown device: " + text,
                     "the devices of " + resource.name + " changed meanwhile: create the pod again");
    const Device* const device = &resource.devices[id->device];
    if (std::ranges::find(devices, device) == devices.end()) devices.push_back(device);
  }
  return devices;
}

Status check_sharing(const Resource& resource, const std::vector<std::string>& ids, std::size_t devices,
                     const Sharing& sharing) {
  const bool replicas = std::ranges::any_of(ids, [](const std::string& id) { return id.find("::") != id.npos; });
  if (!resource.shared() || !replicas || ids.size() < 2) return {};
  if (sharing.fail_requests_greater_than_one)
    return refused("maximum request size for shared resources is 1; found " + std::to_string(ids.size()),
                   "ask for one " + resource.name);
  if (sharing.strict_spread && devices < ids.size())
    return refused(std::to_string(ids.size()) + " replicas would be on " + std::to_string(devices) +
                       " GPUs, but sharing.strictSpread needs a GPU for each",
                   "ask for fewer, or wait until more GPUs have a free replica");
  return {};
}

class Answer {
 public:
  Answer(const Resource& resource, const Settings& settings, const MachineDevices& extras)
      : resource_(resource), settings_(settings), extras_(extras) {}

  Grant grant(const std::vector<const Device*>& devices, const std::string& key) {
    std::vector<std::string> names;
    for (const Device* device : devices)
      names.push_back(settings_.id_strategy == IdStrategy::uuid ? device->uuid : device->index);
    if (settings_.id_strategy == IdStrategy::index) std::ranges::sort(names);
    if (settings_.any_cdi()) add_cdi(names, key);
    if (resource_.sharing == SharingKind::mps) add_mps();
    add_features();
    if (settings_.only_cdi()) return std::move(grant_);
    if (settings_.list_strategies.contains(ListStrategy::envvar)) add_variables(names);
    if (settings_.list_strategies.contains(ListStrategy::volume_mounts)) add_mounts(names);
    if (settings_.pass_device_specs) add_nodes(devices);
    return std::move(grant_);
  }

 private:
  void add_cdi(const std::vector<std::string>& names, const std::string& key) {
    std::vector<std::string> all;
    const auto add = [&](const std::string& name) { all.push_back(extras_.cdi_vendor + "/" + name); };
    for (const std::string& name : names) add("gpu=" + name);
    for (const unsigned channel : extras_.imex_channels) add("imex-channel=" + std::to_string(channel));
    if (settings_.gdrcopy) add("gdrcopy=all");
    if (settings_.gds) add("gds=all");
    if (settings_.mofed) add("mofed=all");
    if (all.empty()) return;
    if (settings_.list_strategies.contains(ListStrategy::cdi_cri)) grant_.cdi_devices = all;
    if (!settings_.list_strategies.contains(ListStrategy::cdi_annotations)) return;
    std::string& list = grant_.annotations[settings_.cdi_annotation_prefix + "nvidia-device-plugin_" + key];
    list += (list.empty() ? "" : ",") + joined(all, ",");
  }

  void add_mps() {
    const std::string folder = "/mps/" + resource_.name + "/pipe";
    grant_.env["CUDA_MPS_PIPE_DIRECTORY"] = folder;
    grant_.mounts.push_back({folder, settings_.mps_root + "/" + resource_.name + "/pipe"});
    grant_.mounts.push_back({"/dev/shm", settings_.mps_root + "/shm"});
  }

  void add_features() {
    if (settings_.gdrcopy) grant_.env["NVIDIA_GDRCOPY"] = "enabled";
    if (settings_.gds) grant_.env["NVIDIA_GDS"] = "enabled";
    if (settings_.mofed) grant_.env["NVIDIA_MOFED"] = "enabled";
  }

  void add_variables(const std::vector<std::string>& names) {
    grant_.env[kVisible] = joined(names, ",");
    if (!extras_.imex_channels.empty()) grant_.env["NVIDIA_IMEX_CHANNELS"] = std::to_string(extras_.imex_channels[0]);
  }

  void add_mounts(const std::vector<std::string>& names) {
    grant_.env[kVisible] = kMountRoot;
    const std::string root = std::string(kMountRoot) + "/";
    for (const std::string& name : names) grant_.mounts.push_back({root + name, "/dev/null"});
    for (const unsigned channel : extras_.imex_channels)
      grant_.mounts.push_back({root + "imex/" + std::to_string(channel), "/dev/null"});
  }

  void add_node(const std::string& path) {
    if (!nodes_.insert(path).second) return;
    const std::string root = settings_.host_dev_root();
    grant_.devices.push_back({path, (root == "/" ? "" : root) + path});
  }

  void add_nodes(const std::vector<const Device*>& devices) {
    for (const std::string& node : extras_.control_nodes) add_node(node);
    for (const Device* device : devices)
      for (const std::string& path : device->paths) add_node(path);
    for (const unsigned channel : extras_.imex_channels) add_node(kImexNodes + std::to_string(channel));
  }

  const Resource& resource_;
  const Settings& settings_;
  const MachineDevices& extras_;
  Grant grant_;
  std::set<std::string> nodes_;
};

}  // namespace

Result<Grant> allocate(const Resource& resource, const std::vector<std::string>& ids, const Settings& settings,
                       const MachineDevices& extras, const std::string& key) {
  SLIPWAY_TRY(devices, devices_of(resource, ids));
  SLIPWAY_CHECK(check_sharing(resource, ids, devices.size(), settings.sharing));
  return Answer(resource, settings, extras).grant(devices, key);
}

}  // namespace slipway::deviceplugin
